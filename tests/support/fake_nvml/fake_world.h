// The boards of the fake NVML, as the JSON file that FALCONBENCH_FAKE_NVML names describes them
// (see fake_nvml.md). The file is read again whenever it changes, so a test can move the world
// between two readings.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/value.h"
#include "falconbench/errors.h"
#include "platform/nvml_api.h"

#define FAKE_NVML extern "C" __attribute__((visibility("default"))) int

namespace falcon::test::fake {

using namespace platform::nvml;
using base::Value;

constexpr Code kNotFound = 6;
constexpr Code kArgumentVersionMismatch = 25;
constexpr Code kUnknown = 999;

class World {
 public:
  /// The described world, read again when the file has changed.
  Value now();
  /// Counts a reading of a board.
  int count(std::size_t board);
  /// As a driver that is loaded by its first client.
  void begin();
  double age_s();

 private:
  std::mutex mutex_;
  std::string stamp_;
  Value world_ = Value::object();
  std::map<std::size_t, int> reads_;
  double loaded_s_ = 0;
};
World& world();

double number(const Value& value, const char* path, double otherwise);
/// A member that is not nested: names of calls hold no dots, but "field:83" is one name.
double entry(const Value& value, const char* map, const std::string& name, double otherwise);
Code copy_text(const Value* text, char* out, unsigned size);
std::size_t index_of(Handle handle);

/// Runs `body(board)` unless the file gives this call a return code or the board is lost.
template <class Body>
Code with_board(Handle handle, const char* call, bool is_reading, Body body) {
  try {
    const Value all = world().now();
    const Value* boards = all.find("devices");
    if (boards == nullptr || handle == nullptr || index_of(handle) >= boards->as_list().size()) {
      return kInvalidArgument;
    }
    const Value& board = boards->as_list()[index_of(handle)];
    const double lost_after = number(board, "lost_after_reads", INFINITY);
    if (is_reading && world().count(index_of(handle)) > lost_after) return kGpuIsLost;
    const auto delay_ms = static_cast<int>(entry(board, "delays_ms", call, 0));
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    const auto code = static_cast<Code>(entry(board, "codes", call, kSuccess));
    return code != kSuccess ? code : body(board);
  } catch (const Error&) {
    return kUnknown;
  }
}

Code natural(Handle handle, const char* call, const char* key, unsigned* out);
/// A count in the file's "counters", growing by its "rates" a second since the load.
double counter(const Value& board, const std::string& name);

}  // namespace falcon::test::fake
