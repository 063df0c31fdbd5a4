#include "support/reference_set.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace falcon::test {

namespace {

Json parse(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  return Json::parse(file);
}

std::size_t fan_in(const std::vector<std::int64_t>& shape) {
  std::size_t product = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    product *= static_cast<std::size_t>(shape[i]);
  }
  return product;
}

}  // namespace

std::filesystem::path reference_dir() {
  const char* given = std::getenv("FALCONBENCH_REFERENCE_DIR");
  if (given == nullptr || *given == '\0') {
    return shipped_reference_dir();
  }
  if (!std::filesystem::is_directory(given)) {
    throw std::runtime_error(std::string("FALCONBENCH_REFERENCE_DIR is no folder: ") + given);
  }
  return given;
}

std::filesystem::path shipped_reference_dir() {
  return FALCON_TEST_REFERENCE_COPY;
}

std::optional<ReferenceFile> read_reference(const std::string& name,
                                            const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / name;
  if (!std::filesystem::exists(path)) {
    return std::nullopt;
  }
  return ReferenceFile{path, parse(path)};
}

std::vector<ReferenceFile> model_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ReferenceFile> files;
  for (const auto& path : paths) {
    Json json = parse(path);
    if (json.is_object() && json.contains("model") && json["model"].is_string()) {
      files.push_back({path, std::move(json)});
    }
  }
  return files;
}

Table::Table(const Json& parent, const std::string& name) : rows_(parent.at(name)) {
  std::size_t index = 0;
  for (const Json& column : parent.at(name + "_columns")) {
    columns_[column] = index++;
  }
}

std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

std::uint32_t fill_bits(std::uint64_t key_hash, std::uint64_t index) {
  std::uint64_t z = key_hash + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z = z ^ (z >> 31);
  return static_cast<std::uint32_t>(z >> 40);
}

double fill_unit(std::uint64_t key_hash, std::uint64_t index) {
  return fill_bits(key_hash, index) * 0x1p-23 - 1;
}

std::vector<float> fill(std::string_view key, std::size_t count, double offset, double scale) {
  const std::uint64_t hash = fnv1a64(key);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(offset + scale * fill_unit(hash, i));
  }
  return values;
}

std::optional<FillRange> fill_rule(std::string_view name, const std::vector<std::int64_t>& shape) {
  const auto root = [&shape](double numerator) {
    return FillRange{0,
                     static_cast<float>(std::sqrt(numerator / static_cast<double>(fan_in(shape))))};
  };
  const auto range = [](float offset, float scale) { return FillRange{offset, scale}; };
  if (name.ends_with("num_batches_tracked") || name.ends_with("anchors")) {
    return std::nullopt;
  }
  if (name.ends_with("running_mean")) {
    return range(0, 0.1F);
  }
  if (name.ends_with("running_var")) {
    return range(1.125F, 0.125F);
  }
  if (name.ends_with("bias")) {
    return range(0, 0.05F);
  }
  if (shape.size() == 1) {
    return range(1, 0.1F);
  }
  if (name.find("embeddings") != std::string_view::npos) {
    return range(0, 0.0625F);
  }
  return root(shape.size() == 4 ? 6 : 1);
}

Summary summarize(std::span<const double> values, std::string_view probe) {
  const std::uint64_t hash = fnv1a64("probe:" + std::string(probe));
  Summary result;
  double squares = 0;
  double magnitudes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += values[i] * values[i];
    magnitudes += std::abs(values[i]);
    result.sum += values[i];
    result.dot += values[i] * fill_unit(hash, i);
  }
  result.l2 = std::sqrt(squares);
  result.count = values.size();
  result.mean = result.sum / static_cast<double>(values.size());
  result.absmean = magnitudes / static_cast<double>(values.size());
  return result;
}

void Comparison::row(std::string name) {
  row_ = std::move(name);
  ++rows_;
}

void Comparison::take(double ratio, const std::string& text) {
  // The first row is kept also when it is exact, so that a passing section still names one.
  if (ratio > worst_ || worst_text_ == "no row") {
    worst_ = std::max(ratio, worst_);
    worst_text_ = row_ + " " + text;
  }
}

void Comparison::near(std::string_view what, double expected, double actual, double allowed) {
  const double error = std::abs(actual - expected);
  double ratio = std::numeric_limits<double>::infinity();
  if (error == 0) {
    ratio = 0;
  } else if (std::isfinite(error) && allowed > 0) {
    ratio = error / allowed;
  }
  std::ostringstream text;
  text.precision(12);
  text << what << ": expected " << expected << ", got " << actual << ", allowed +-" << allowed;
  take(ratio, text.str());
}

void Comparison::summary(const Summary& expected, const Summary& actual, double r) {
  const double scale = r * expected.l2;
  near("l2", expected.l2, actual.l2, scale);
  near("sum", expected.sum, actual.sum, scale * std::sqrt(static_cast<double>(actual.count)));
  near("dot", expected.dot, actual.dot, 10 * scale);
}

void Comparison::sample(std::size_t index, double expected, double actual, double l2,
                        std::size_t count, double r) {
  const double typical = l2 / std::sqrt(static_cast<double>(count));
  near("element " + std::to_string(index), expected, actual,
       10 * r * std::max(std::abs(expected), typical));
}

void Comparison::equal(std::string_view what, const std::string& expected,
                       const std::string& actual) {
  const bool is_equal = expected == actual;
  take(is_equal ? 0 : std::numeric_limits<double>::infinity(),
       std::string(what) + ": expected " + expected + ", got " + actual);
}

void Comparison::finite(std::string_view what, double actual) {
  take(std::isfinite(actual) ? 0 : std::numeric_limits<double>::infinity(),
       std::string(what) + " is not finite");
}

std::string parity_line(std::string_view model, std::string_view dtype, std::string_view section,
                        const Comparison& comparison) {
  std::ostringstream line;
  line.precision(3);
  line << "parity " << model << ' ' << dtype << ' ' << section << " rows=" << comparison.rows()
       << " worst=" << comparison.worst();
  return line.str();
}

}  // namespace falcon::test
