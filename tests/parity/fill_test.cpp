// The fill that makes weights and inputs, against the vectors of fill.json.
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

#include "support/reference_set.h"

namespace falcon::test {
namespace {

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return std::string(16 - text.str().size(), '0') + text.str();
}

TEST(ParityFill, Vectors) {
  const auto file = read_reference("fill.json");
  if (!file) {
    GTEST_SKIP() << "missing fill.json in " << reference_dir();
  }
  Comparison comparison;
  for (const Json& vector : file->json.at("vectors")) {
    const std::string key = vector.at("key");
    const std::uint64_t hash = fnv1a64(key);
    const std::size_t count = vector.at("u24").size();
    const std::vector<float> values =
        fill(key, count, vector.at("offset").get<double>(), vector.at("scale").get<double>());
    for (std::size_t i = 0; i < count; ++i) {
      comparison.row(key + " element " + std::to_string(i));
      comparison.equal("fnv1a64", vector.at("fnv1a64"), hexadecimal(hash));
      comparison.near("u24", vector["u24"][i], fill_bits(hash, i), 0);
      comparison.near("unit", vector.at("unit").at(i), fill_unit(hash, i), 0);
      comparison.near("value", vector.at("value").at(i), values[i], 0);
      const std::string text = vector.at("value_hex").at(i);
      comparison.near("value_hex", std::strtod(text.c_str(), nullptr), values[i], 0);
    }
  }
  std::cout << parity_line("fill", "float32", "vectors", comparison) << std::endl;
  EXPECT_TRUE(comparison.passed()) << comparison.worst_text();
}

}  // namespace
}  // namespace falcon::test
