#include "base/codec.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace falcon::base {
namespace {

std::string shown(const Value& value) {
  if (value.is_text()) return "\"" + printable(value.as_text()) + "\"";
  if (value.is_real()) return number_text(value.as_number());
  return value.kind_text();
}

}  // namespace

std::string join_key(const std::string& parent, std::string_view name) {
  return parent.empty() ? std::string(name) : parent + "." + std::string(name);
}

std::string range_text(const Rule& rule) {
  std::string low = (rule.above_min ? "above " : "at least ") + number_text(rule.min);
  std::string high = "at most " + number_text(rule.max);
  if (std::isinf(rule.max)) return std::isinf(rule.min) ? "" : low;
  if (std::isinf(rule.min)) return high;
  if (rule.above_min) return low + " and " + high;
  return "from " + number_text(rule.min) + " to " + number_text(rule.max);
}

std::string unknown_key_text(std::string_view name, const std::vector<std::string>& known,
                             const std::vector<std::string>& all_keys) {
  std::string near = nearest(name, known);
  for (const std::string& key : all_keys) {
    if (near.empty() && key.ends_with("." + std::string(name))) near = key;
  }
  if (near.empty()) return "unknown key; known here: " + join(known, ", ");
  return "unknown key, did you mean " + near + "?";
}

void Reader::fault(const Mark& mark, const std::string& key, const std::string& message) {
  faults_.push_back(Fault{mark.source, mark.line, mark.column, key, message});
}

void Reader::wrong_type(const Value& value, const std::string& key, const std::string& expected) {
  std::string message = "expected " + expected + ", got " + shown(value);
  if (!value.ambiguity.empty()) message += " (" + value.ambiguity + ")";
  fault(value.mark, key, message);
}

bool Reader::in_range(const Value& value, const std::string& key, double number, const Rule& rule) {
  const bool low = rule.above_min ? number <= rule.min : number < rule.min;
  if (!low && number <= rule.max) return true;
  fault(value.mark, key, "must be " + range_text(rule) + ", got " + number_text(number));
  return false;
}

void Reader::read_bool(const Value& value, const std::string& key, bool& out) {
  if (!value.is_bool()) return wrong_type(value, key, "true or false");
  out = value.as_bool();
}

void Reader::read_integer(const Value& value, const std::string& key, std::int64_t& out,
                          const Rule& rule) {
  if (!value.is_integer()) return wrong_type(value, key, "a whole number");
  if (in_range(value, key, static_cast<double>(value.as_integer()), rule)) out = value.as_integer();
}

void Reader::read_number(const Value& value, const std::string& key, double& out,
                         const Rule& rule) {
  if (!value.is_number() || !std::isfinite(value.as_number()))
    return wrong_type(value, key, "a finite number");
  if (in_range(value, key, value.as_number(), rule)) out = value.as_number();
}

void Reader::read_text(const Value& value, const std::string& key, std::string& out,
                       const Rule& rule) {
  if (!value.is_text()) {
    const bool is_word = value.is_number() || value.is_bool();
    return wrong_type(value, key, is_word ? "text (in quotes)" : "text");
  }
  if (value.as_text().find('\0') != std::string::npos) {
    return fault(value.mark, key, "holds a NUL byte: " + shown(value));
  }
  if (rule.words[0] != '\0') check_word(value, key, value.as_text(), rule.words);
  out = value.as_text();
}

void Reader::read_name_or_list(const Value& value, const std::string& key, NameOrList& out) {
  if (value.is_text()) {
    out = NameOrList{value.as_text(), {}};
  } else if (value.is_integer()) {
    out = NameOrList{"", {std::to_string(value.as_integer())}};
  } else if (value.is_list() && !value.as_list().empty()) {
    out = {};
    for (const Value& item : value.as_list()) {
      if (item.is_integer()) {
        out.items.push_back(std::to_string(item.as_integer()));
      } else if (item.is_text()) {
        out.items.push_back(item.as_text());
      } else {
        wrong_type(item, key, "a name or an address");
      }
    }
  } else {
    wrong_type(value, key, "a name, or a list of PCI addresses, UUIDs or names that is not empty");
  }
}

void Reader::read_word_or_count(const Value& value, const std::string& key, WordOrCount& out,
                                const Rule& rule) {
  if (value.is_text()) {
    check_word(value, key, value.as_text(), rule.words);
    out = {value.as_text(), 0};
  } else if (value.is_integer()) {
    if (in_range(value, key, static_cast<double>(value.as_integer()), rule)) {
      out = {"", value.as_integer()};
    }
  } else {
    wrong_type(value, key, "a whole number or " + join_or(words(rule.words)));
  }
}

void Reader::check_word(const Value& value, const std::string& key, const std::string& word,
                        const char* list) {
  if (!words_) return;
  const std::vector<std::string> accepted = words_(list);
  for (const std::string& known : accepted) {
    if (known == word) return;
  }
  const std::string near = nearest(word, accepted);
  fault(value.mark, key,
        "unknown value " + shown(value) +
            (near.empty() ? "; accepted: " : ", did you mean " + near + "? Accepted: ") +
            join(accepted, ", "));
}

void FieldReader::kind(std::string& word, const char* list) {
  has_kind_ = true;
  if (value_.is_text()) {
    kind_ = value_.as_text();
    reader_.check_word(value_, key_, kind_, list);
  } else if (value_.is_object() && value_.as_object().size() == 1) {
    const Value::Member& only = value_.as_object().front();
    kind_ = only.name;
    Value named(kind_);
    named.mark = only.mark;
    reader_.check_word(named, key_, kind_, list);
  } else {
    const std::vector<std::string> accepted = reader_.words(list);
    reader_.fault(value_.mark, key_,
                  "expected a word (" + join_or(accepted) + ") or a map with one of them, got " +
                      value_.kind_text());
  }
  word = kind_;
}

void FieldReader::missing(const char* name, const Rule& rule) {
  std::string message = "is required";
  if (rule.words[0] != '\0') message += ": " + join_or(reader_.words(rule.words));
  reader_.fault(value_.mark, join_key(key_, name), message);
}

// A kind without a field of its own takes nothing below it.
void FieldReader::check_kind_options() {
  if (!value_.is_object() || value_.as_object().size() != 1 || found_ > 0) return;
  const Value::Member& only = value_.as_object().front();
  const bool is_empty =
      only.value.is_null() || (only.value.is_object() && only.value.as_object().empty());
  bool has_fields = false;
  for (const std::string& name : known_) has_fields = has_fields || name == only.name;
  if (is_empty || has_fields || reader_.skips_unknown_keys()) return;
  reader_.fault(only.mark, join_key(key_, only.name), "takes no options");
}

void FieldReader::finish() {
  if (has_kind_) return check_kind_options();
  if (value_.is_null() && !is_choice_) return;  // "engine:" with nothing below it
  if (!value_.is_object()) {
    std::string message = "expected a map with " +
                          std::string(is_choice_ ? "one of the keys " : "the keys ") +
                          join(known_, ", ") + ", got " + shown(value_);
    if (is_choice_ && value_.is_number() && value_.as_number() > 0) {
      std::vector<std::string> maps;
      for (const std::string& name : known_) {
        maps.push_back("{" + name + ": " + number_text(value_.as_number()) + "}");
      }
      message += "; write " + join_or(maps);
    }
    if (!value_.ambiguity.empty()) message += " (" + value_.ambiguity + ")";
    return reader_.fault(value_.mark, key_, message);
  }
  bool has_unknown = false;
  for (const Value::Member& member : value_.as_object()) {
    if (std::find(known_.begin(), known_.end(), member.name) != known_.end()) continue;
    has_unknown = true;
    if (reader_.skips_unknown_keys()) continue;
    const std::string message = unknown_key_text(member.name, known_, reader_.all_keys());
    reader_.fault(member.mark, join_key(key_, member.name), message);
  }
  if (is_choice_ && found_ != 1 && !has_unknown) {
    reader_.fault(value_.mark, key_, "expects exactly one of " + join_or(known_));
  }
}

}  // namespace falcon::base
