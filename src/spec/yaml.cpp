#include "spec/yaml.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <sstream>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/files.h"
#include "base/json.h"
#include "base/source_text.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "spec/yaml_scalar.h"

namespace falcon::spec {
namespace {

using base::Mark;
using base::Value;

constexpr std::size_t kMaxDepth = 100;

[[noreturn]] void refuse(const Mark& mark, const std::string& message) {
  throw InputError({Fault{mark.source, mark.line, mark.column, "", message}});
}

// Of the quoted scalar at text[0] with its quotes; 0 without one, or without its end.
std::size_t quoted_length(std::string_view text) {
  const char quote = text.empty() ? '\0' : text[0];
  if (quote != '\'' && quote != '"') return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      const bool is_doubled = quote == '\'' && text.substr(i + 1).starts_with(quote);
      if (!is_doubled) return i + 1;
      ++i;  // '' inside '...' is one '
    }
  }
  return 0;
}

// Builds the tree from yaml-cpp's events: its Load() keeps duplicate keys and expands aliases.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const base::SourceText& source) : source_(source) {}

  /// REQUIRES: all events came.
  Value take() {
    if (!late_fault_.empty()) refuse(late_place_, late_fault_);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++num_documents_ < 2) return;
    // yaml-cpp also starts a document where a line is indented less than the first
    const bool has_marker = source_.text().substr(offset_of(mark)).starts_with("---");
    refuse(place_of(mark), has_marker ? "a second document, expected one"
                                      : "an indentation that fits nothing before it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (wants_key()) refuse(place_of(mark), "a key is missing before ':'");
    if (!open_.empty() && open_.back().has_key) check_colon(open_.back());
    add(mark, Value());
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_alias(mark); }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(place_of(mark), "the anchor &" + base::printable(name) +
                               ": anchors and aliases are not supported, write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& text) override {
    check_tag(mark, tag);
    check_quotes(mark);
    if (wants_key()) return add_key(mark, text);
    add(mark, tag == "?" ? plain_value(text) : Value(text));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Value::list());
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, Value::object());
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Open {
    Value* container;            // does not move while it is open: its parent waits
    bool has_key;                // of a map: the key is there, its value comes next
    std::size_t key_offset = 0;  // where that key starts
  };

  std::size_t offset_of(const YAML::Mark& mark) const {
    const std::size_t size = source_.text().size();
    return mark.pos < 0 ? 0 : std::min(size, static_cast<std::size_t>(mark.pos));
  }
  Mark place_of(const YAML::Mark& mark) const { return source_.mark_at(offset_of(mark)); }
  bool wants_key() const {
    return !open_.empty() && open_.back().container->is_object() && !open_.back().has_key;
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(place_of(mark), "the tag " + base::printable(tag) + ": tags are not supported");
  }
  // yaml-cpp ends a quoted scalar at the end of the file without a word.
  void check_quotes(const YAML::Mark& mark) const {
    const std::string_view text = source_.text().substr(offset_of(mark));
    if (text.empty() || (text[0] != '\'' && text[0] != '"') || quoted_length(text) > 0) return;
    refuse(place_of(mark), std::string("a quote ") + text[0] + " without its end");
  }
  // ... and reads a lone word after a map's last entry as one more key, without a value.
  void check_colon(const Open& map) {
    const std::string_view text = source_.text().substr(map.key_offset);
    const Value::Member& member = map.container->as_object().back();
    const std::size_t quoted = quoted_length(text);
    const std::size_t length = quoted > 0 ? quoted : member.name.size();
    const std::size_t next = text.find_first_not_of(" \t\r\n", std::min(length, text.size()));
    if (next != std::string_view::npos && text[next] == ':') return;
    refuse_late(member.mark, "\"" + base::printable(member.name) + "\" without ':' and a value");
  }
  // For a list without its end yaml-cpp makes up a key before it throws: its fault comes first.
  void refuse_late(const Mark& place, std::string message) {
    if (!late_fault_.empty()) return;
    late_place_ = place;
    late_fault_ = std::move(message);
  }
  [[noreturn]] void refuse_alias(const YAML::Mark& mark) const {
    refuse(place_of(mark), "an alias (*): anchors and aliases are not supported");
  }
  void add_key(const YAML::Mark& mark, const std::string& name) {
    const Mark place = place_of(mark);
    Value::Object& members = open_.back().container->as_object();
    for (const Value::Member& member : members) {
      if (member.name != name) continue;
      refuse(place, "key \"" + base::printable(name) + "\" is given twice, first in line " +
                        std::to_string(member.mark.line));
    }
    members.push_back({name, Value(), place});
    open_.back().has_key = true;
    open_.back().key_offset = offset_of(mark);
  }
  Value* add(const YAML::Mark& mark, Value value) {
    value.mark = place_of(mark);
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Open& parent = open_.back();
    if (parent.container->is_list()) {
      parent.container->push_back(std::move(value));
      return &parent.container->as_list().back();
    }
    parent.has_key = false;
    Value::Member& member = parent.container->as_object().back();
    // nothing behind "key:" stands nowhere; the key's place helps more than the next line's
    if (value.is_null()) value.mark = member.mark;
    member.value = std::move(value);
    return &member.value;
  }
  void open(const YAML::Mark& mark, const std::string& tag, Value value) {
    check_tag(mark, tag);
    if (open_.size() >= kMaxDepth) {
      refuse(place_of(mark), "more than " + std::to_string(kMaxDepth) + " levels of nesting");
    }
    if (wants_key()) return open_key(mark, std::move(value));
    Value* container = add(mark, std::move(value));
    open_.push_back({container, false});
  }
  void open_key(const YAML::Mark& mark, Value value) {
    refuse_late(place_of(mark), "a list or map as a key, expected text");
    open_.back().container->as_object().push_back({"", Value(), place_of(mark)});
    open_.back().has_key = true;
    open_.back().key_offset = source_.text().size();
    open_.push_back({&container_keys_.emplace_back(std::move(value)), false});
  }

  const base::SourceText& source_;
  Value root_;
  std::deque<Value> container_keys_;
  Mark late_place_;
  std::string late_fault_;  // the first one; empty: none
  std::vector<Open> open_;
  int num_documents_ = 0;
};

// yaml-cpp takes the byte 0x04 for the end of the file; YAML has no control characters at all.
void check_characters(const base::SourceText& source) {
  const std::string_view text = source.text();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
      refuse(source.mark_at(i), "the control character " + base::printable(text.substr(i, 1)) +
                                    ", expected printable text (in quotes: \"\\x..\")");
    }
  }
}

// Where the line of this offset has a tab in its indentation, else npos.
std::size_t tab_in_indentation(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t line_end = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t start = line_end == std::string_view::npos ? 0 : line_end + 1;
  const std::size_t content = text.find_first_not_of(" \t", start);
  const std::size_t tab = text.find('\t', start);
  return tab != std::string_view::npos && tab < content ? tab : std::string_view::npos;
}

[[noreturn]] void refuse_syntax(const base::SourceText& source, const YAML::Exception& error) {
  const std::size_t at =
      error.mark.pos < 0 ? source.text().size() : static_cast<std::size_t>(error.mark.pos);
  if (const std::size_t tab = tab_in_indentation(source.text(), at);
      tab != std::string_view::npos) {
    refuse(source.mark_at(tab), "a tab as indentation, expected spaces");
  }
  if (error.msg == "the referenced anchor is not defined") {
    refuse(source.mark_at(at), "an alias (*): anchors and aliases are not supported");
  }
  refuse(source.mark_at(at), "invalid YAML: " + base::printable(error.msg, 160));
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& source_name) {
  const base::SourceText source(text, source_name);
  check_characters(source);
  std::istringstream stream{std::string(source.text())};
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    refuse_syntax(source, error);
  }
  return builder.take();
}

Value parse_map_file(const std::string& path) {
  const std::string text = base::read_file(path);
  const bool is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const bool starts_as_json = first != std::string::npos && text[first] == '{';
  const bool is_json = path.ends_with(".json") || (starts_as_json && !is_yaml);
  Value value = is_json ? base::parse_json(text, path) : parse_yaml(text, path);
  if (!value.is_object()) {
    const std::string got = value.is_null() ? "an empty document" : value.kind_text();
    refuse({path, std::max(1, value.mark.line), std::max(1, value.mark.column)},
           "expected a map of keys (model: resnet50), got " + got);
  }
  return value;
}

}  // namespace falcon::spec
