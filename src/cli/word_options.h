// The words after a verb: options with or without a value, and the rest.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare.h"
#include "cli/commands.h"

namespace falcon::cli {

struct OptionRule {
  const char* name;             // "--gate"
  const char* value = nullptr;  // what its value is, for messages: "PERCENT"; nullptr: takes none
};

class WordOptions {
 public:
  /// --name VALUE and --name=VALUE; after -- all words are plain. Throws Error(kUsage) naming the
  /// verb, the word and the nearest option.
  WordOptions(const std::string& verb, const Words& words, const std::vector<OptionRule>& rules);

  bool has(std::string_view name) const { return !values(name).empty(); }
  /// All values in their order; an option without value counts as one empty value a time.
  Words values(std::string_view name) const;
  /// The value of an option that is given at most once, or fallback. Throws Error(kUsage) when it
  /// is given twice.
  std::string value(std::string_view name, const std::string& fallback = "") const;
  /// The same as a number of at least min and at most max.
  double number(std::string_view name, double fallback, double min, double max) const;
  const Words& plain() const { return plain_; }

 private:
  struct Given {
    std::string name, value;
  };
  std::string verb_;
  std::vector<Given> given_;
  Words plain_;
};

/// The whole text as a finite decimal number.
std::optional<double> number_of(const std::string& text);

/// --price and --currency, as several verbs take them.
analysis::Price price_of(const WordOptions& options);

/// -h or --help is among the words.
bool asks_for_help(const Words& words);

}  // namespace falcon::cli
