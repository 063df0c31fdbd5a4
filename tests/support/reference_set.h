// The reference number files and their arithmetic, for parity tests: where the files are, the
// deterministic fill, the summaries of a tensor, and the comparison that counts rows and keeps the
// worst. Torch-free.
#pragma once
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace falcon::test {

using Json = nlohmann::json;

struct ReferenceFile {
  std::filesystem::path path;
  Json json;
};

/// FALCONBENCH_REFERENCE_DIR, else the copy in tests/data/reference. Throws when the variable names
/// no folder.
std::filesystem::path reference_dir();
/// The copy in tests/data/reference, whatever the variable says.
std::filesystem::path shipped_reference_dir();
/// The parsed file of that name, or nothing when there is no such file.
std::optional<ReferenceFile> read_reference(const std::string& name,
                                            const std::filesystem::path& folder = reference_dir());
/// Every *.json of the folder with a text `model`, in the order of file names, parsed once.
std::vector<ReferenceFile> model_files(const std::filesystem::path& folder);

/// A table of a file: its rows are arrays, and NAME_columns beside it names the columns. Refers to
/// the file.
class Table {
 public:
  Table(const Json& parent, const std::string& name);
  const Json& rows() const { return rows_; }
  const Json& at(const Json& row, const std::string& column) const {
    return row.at(columns_.at(column));
  }
  bool has(const std::string& column) const { return columns_.count(column) > 0; }

 private:
  const Json& rows_;
  std::map<std::string, std::size_t> columns_;
};

std::uint64_t fnv1a64(std::string_view text);
/// The 24 bits of element `index` of a key, and the exact double in [-1, 1) made of them.
std::uint32_t fill_bits(std::uint64_t key_hash, std::uint64_t index);
double fill_unit(std::uint64_t key_hash, std::uint64_t index);
/// float32(offset + scale * unit) for elements 0 .. count - 1.
std::vector<float> fill(std::string_view key, std::size_t count, double offset, double scale);

/// Offset and scale of a state_dict entry by its name and shape only; nothing for what is not
/// filled.
struct FillRange {
  double offset = 0;
  double scale = 0;
};
std::optional<FillRange> fill_rule(std::string_view name, const std::vector<std::int64_t>& shape);

/// Summaries of a tensor in row-major order; dot is against the units of the key "probe:" + probe.
struct Summary {
  double l2 = 0;
  double sum = 0;
  double dot = 0;
  double mean = 0;
  double absmean = 0;
  std::size_t count = 0;
};
Summary summarize(std::span<const double> values, std::string_view probe);

/// Compares numbers with tolerances. A row is one line of a reference table (one tensor, one loss,
/// ...).
class Comparison {
 public:
  /// Starts a row; what follows belongs to it.
  void row(std::string name);
  /// What follows belongs to the section as a whole (a count, a norm over all rows): named in
  /// messages, no row.
  void whole(std::string name) { row_ = std::move(name); }
  /// |actual - expected| <= allowed; not finite is infinitely wrong.
  void near(std::string_view what, double expected, double actual, double allowed);
  void relative(std::string_view what, double expected, double actual, double ratio) {
    near(what, expected, actual, ratio * std::abs(expected));
  }
  /// The rule of a table row with l2, sum, dot: r, r * sqrt(n) and 10 * r times the l2.
  void summary(const Summary& expected, const Summary& actual, double r);
  /// Sampled elements: 10 * r * max(|value|, l2 / sqrt(n)).
  void sample(std::size_t index, double expected, double actual, double l2, std::size_t count,
              double r);
  void equal(std::string_view what, const std::string& expected, const std::string& actual);
  void finite(std::string_view what, double actual);

  std::size_t rows() const { return rows_; }
  /// The largest error divided by its tolerance.
  double worst() const { return worst_; }
  /// Row and number of the worst error, with both values.
  const std::string& worst_text() const { return worst_text_; }
  bool passed() const { return rows_ > 0 && worst_ <= 1; }

 private:
  void take(double ratio, const std::string& text);
  std::size_t rows_ = 0;
  double worst_ = 0;
  std::string row_;
  std::string worst_text_ = "no row";
};

/// `parity MODEL DTYPE SECTION rows=N worst=X`
std::string parity_line(std::string_view model, std::string_view dtype, std::string_view section,
                        const Comparison& comparison);

}  // namespace falcon::test
