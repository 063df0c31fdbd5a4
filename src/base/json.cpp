#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/source_text.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::base {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMaxDepth = 100;

// Counts what nlohmann's lexer has read: its SAX events carry no positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

// Builds the tree from nlohmann's events. Between two events lie only white space, commas and
// colons, so the start of a token is found from the end of the one before.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const SourceText& source, const std::size_t& consumed, Author author)
      : source_(source), consumed_(consumed), author_(author) {}

  Value take() { return std::move(root_); }

  bool null() override { return add(Value()); }
  bool boolean(bool b) override { return add(Value(b)); }
  bool number_integer(number_integer_t i) override { return add(Value(std::int64_t{i})); }
  bool number_unsigned(number_unsigned_t u) override {
    if (u > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      if (author_ == Author::kOthers) return add(Value(static_cast<double>(u)));
      refuse_integer(std::to_string(u));
    }
    return add(Value(static_cast<std::int64_t>(u)));
  }
  bool number_float(number_float_t d, const string_t& raw) override {
    const bool is_whole = raw.find_first_of(".eE") == std::string::npos;
    if (is_whole && author_ == Author::kOurs) refuse_integer(raw);
    return add(Value(d));
  }
  bool string(string_t& text) override { return add(Value(std::move(text))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value::list()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override;
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override;

 private:
  Mark next_mark() {
    Mark mark = source_.mark_at(token_start());
    previous_end_ = consumed_;
    return mark;
  }
  std::size_t token_start() const {
    const std::size_t start = source_.text().find_first_not_of(" \t\r\n,:", previous_end_);
    return start == std::string_view::npos ? source_.text().size() : start;
  }
  Value* place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Value& parent = *open_.back();
    if (parent.is_list()) {
      parent.push_back(std::move(value));
      return &parent.as_list().back();
    }
    parent.as_object().back().value = std::move(value);
    return &parent.as_object().back().value;
  }
  bool add(Value value) {
    value.mark = next_mark();
    place(std::move(value));
    return true;
  }
  bool open(Value value) {
    value.mark = next_mark();
    if (open_.size() >= kMaxDepth) {
      refuse(value.mark, "more than " + std::to_string(kMaxDepth) + " levels of nesting");
    }
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    previous_end_ = consumed_;
    return true;
  }
  void refuse_integer(const std::string& raw) {
    refuse(next_mark(), "the whole number " + printable(raw, 40) + " does not fit 64 bits");
  }
  [[noreturn]] static void refuse(const Mark& mark, const std::string& message) {
    throw InputError({Fault{mark.source, mark.line, mark.column, "", message}});
  }

  const SourceText& source_;
  const std::size_t& consumed_;
  Author author_;
  std::size_t previous_end_ = 0;
  Value root_;
  std::vector<Value*> open_;  // a container does not move while it is open: its parent waits
};

bool TreeBuilder::key(string_t& name) {
  const Mark mark = next_mark();
  Value::Object& members = open_.back()->as_object();
  if (author_ == Author::kOthers) {
    std::erase_if(members, [&name](const Value::Member& member) { return member.name == name; });
  }
  for (const Value::Member& member : members) {
    if (member.name != name) continue;
    refuse(mark, "key \"" + printable(name) + "\" is given twice, first in line " +
                     std::to_string(member.mark.line));
  }
  members.push_back({std::move(name), Value(), mark});
  return true;
}

bool TreeBuilder::parse_error(std::size_t position, const std::string&,
                              const nlohmann::detail::exception& error) {
  const std::string_view text = source_.text();
  std::string_view what = error.what();
  const std::size_t last_read = position > 0 ? position - 1 : 0;
  const bool inside_string = what.find("invalid string") != std::string_view::npos &&
                             what.find("missing closing quote") == std::string_view::npos;
  const std::size_t at = inside_string ? last_read : std::min(token_start(), last_read);
  if (what.find("out_of_range") != std::string_view::npos) {
    refuse(source_.mark_at(token_start()), "a number beyond the range of a double");
  }
  if (trim(text).empty()) refuse(source_.mark_at(0), "is empty, expected a JSON value");
  if (trim(text.substr(std::min(at, text.size()))).empty()) {
    refuse(source_.mark_at(text.size()), "ends in the middle of a value");
  }
  if (text[at] == '/' || text[at] == '#') {
    refuse(source_.mark_at(at), "a comment, which JSON does not have (YAML does)");
  }
  const std::size_t before = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
  if ((text[at] == '}' || text[at] == ']') && before != std::string_view::npos &&
      text[before] == ',') {
    refuse(source_.mark_at(before), "a trailing comma, which JSON does not have");
  }
  if (what.find("expected end of input") != std::string_view::npos) {
    refuse(source_.mark_at(at), "more text behind the document");
  }
  const std::string_view lead = "syntax error ";
  if (const std::size_t start = what.find(lead); start != std::string_view::npos) {
    what = what.substr(start + lead.size());
  }
  what = what.substr(0, what.find("; last read"));  // the place says it
  refuse(source_.mark_at(at), "invalid JSON " + printable(what, 160));
}

Json to_nlohmann(const Value& value, const std::string& path) {
  const auto refuse = [&path](const std::string& message) {
    throw Error(ExitCode::kInternal, "cannot write JSON: " + printable(path, 200) + message);
  };
  if (value.is_null()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_integer()) return value.as_integer();
  if (value.is_real()) {
    if (!std::isfinite(value.as_number())) refuse(" is " + number_text(value.as_number()));
    return value.as_number();
  }
  if (value.is_text()) {
    if (!is_utf8(value.as_text())) refuse(" is not UTF-8: " + printable(value.as_text()));
    return value.as_text();
  }
  if (value.is_list()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < value.as_list().size(); ++i) {
      list.push_back(to_nlohmann(value.as_list()[i], path + "[" + std::to_string(i) + "]"));
    }
    return list;
  }
  Json object = Json::object();
  for (const Value::Member& member : value.as_object()) {
    const std::string at = path.empty() ? member.name : path + "." + member.name;
    if (!is_utf8(member.name)) refuse("." + printable(member.name) + " is a key that is not UTF-8");
    object[member.name] = to_nlohmann(member.value, at);
  }
  return object;
}

}  // namespace

Value parse_json(std::string_view text, const std::string& source, Author author) {
  const SourceText checked(text, source);
  std::size_t consumed = 0;
  const char* begin = checked.text().data();
  TreeBuilder builder(checked, consumed, author);
  Json::sax_parse(CountingIterator(begin, &consumed),
                  CountingIterator(begin + checked.text().size(), nullptr), &builder);
  return builder.take();
}

std::string to_json(const Value& value, int indent) {
  return to_nlohmann(value, "").dump(indent);
}

}  // namespace falcon::base
