#include "cli/word_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace falcon::cli {
namespace {

const OptionRule* find_rule(const std::vector<OptionRule>& rules, const std::string& name) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&name](const OptionRule& rule) { return name == rule.name; });
  return found == rules.end() ? nullptr : &*found;
}

[[noreturn]] void unknown_option(const std::string& verb, const std::string& name,
                                 const std::vector<OptionRule>& rules) {
  Words known;
  for (const OptionRule& rule : rules) known.emplace_back(rule.name);
  const std::string near = base::nearest(name, known);
  throw Error(ExitCode::kUsage, verb + ": unknown option " + base::printable(name) +
                                    (near.empty() ? "; accepted: " + base::join(known, ", ")
                                                  : ", did you mean " + near + "?"));
}

}  // namespace

WordOptions::WordOptions(const std::string& verb, const Words& words,
                         const std::vector<OptionRule>& rules)
    : verb_(verb) {
  bool options_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (options_end || word.size() < 2 || word.front() != '-') {
      plain_.push_back(word);
      continue;
    }
    if (word == "--") {
      options_end = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const OptionRule* rule = find_rule(rules, name);
    if (rule == nullptr) unknown_option(verb, name, rules);
    if (rule->value == nullptr) {
      if (equals != std::string::npos) {
        throw Error(ExitCode::kUsage, verb + ": " + name + " takes no value");
      }
      given_.push_back({name, ""});
    } else if (equals != std::string::npos) {
      given_.push_back({name, word.substr(equals + 1)});
    } else if (i + 1 < words.size()) {
      given_.push_back({name, words[++i]});
    } else {
      throw Error(ExitCode::kUsage, verb + ": " + name + " needs " + rule->value);
    }
  }
}

Words WordOptions::values(std::string_view name) const {
  Words out;
  for (const Given& given : given_) {
    if (given.name == name) out.push_back(given.value);
  }
  return out;
}

std::string WordOptions::value(std::string_view name, const std::string& fallback) const {
  const Words all = values(name);
  if (all.size() > 1) {
    throw Error(ExitCode::kUsage, verb_ + ": " + std::string(name) + " is given twice");
  }
  return all.empty() ? fallback : all.front();
}

double WordOptions::number(std::string_view name, double fallback, double min, double max) const {
  if (!has(name)) return fallback;
  const std::string text = value(name);
  const std::optional<double> number = number_of(text);
  if (!number || *number < min || *number > max) {
    throw Error(ExitCode::kUsage, verb_ + ": " + std::string(name) + " needs a number from " +
                                      base::number_text(min) + " to " + base::number_text(max) +
                                      ", got \"" + base::printable(text) + "\"");
  }
  return *number;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

analysis::Price price_of(const WordOptions& options) {
  analysis::Price price;
  price.currency = options.value("--currency", "USD");
  if (options.has("--price")) price.per_gpu_hour = options.number("--price", 0, 1e-6, 1e6);
  return price;
}

bool asks_for_help(const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

}  // namespace falcon::cli
