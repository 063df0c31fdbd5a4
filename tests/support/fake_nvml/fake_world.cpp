#include "fake_world.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "base/json.h"
#include "falconbench/clock.h"

namespace falcon::test::fake {
namespace {

constexpr double kEnergyPeriod_s = 0.1;  // the real counter moves every 100 ms

}  // namespace

Value World::now() {
  const std::lock_guard lock(mutex_);
  const char* path = std::getenv("FALCONBENCH_FAKE_NVML");
  struct stat facts {};
  if (path == nullptr || stat(path, &facts) != 0) return Value::object();
  const auto stamp = std::to_string(facts.st_ino) + "." + std::to_string(facts.st_size) + "." +
                     std::to_string(facts.st_mtim.tv_sec) + "." +
                     std::to_string(facts.st_mtim.tv_nsec);
  if (stamp != stamp_) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    world_ = base::parse_json(text.str(), path);
    stamp_ = stamp;
  }
  return world_;
}

int World::count(std::size_t board) {
  const std::lock_guard lock(mutex_);
  return ++reads_[board];
}

void World::begin() {
  const std::lock_guard lock(mutex_);
  reads_.clear();
  loaded_s_ = steady_now_s();
}

double World::age_s() {
  const std::lock_guard lock(mutex_);
  return steady_now_s() - loaded_s_;
}

World& world() {
  static World the_world;
  return the_world;
}

double number(const Value& value, const char* path, double otherwise) {
  const Value* found = value.find_path(path);
  return found != nullptr && found->is_number() ? found->as_number() : otherwise;
}

double entry(const Value& value, const char* map, const std::string& name, double otherwise) {
  const Value* entries = value.find(map);
  const Value* found = entries != nullptr ? entries->find(name) : nullptr;
  return found != nullptr ? found->as_number() : otherwise;
}

Code copy_text(const Value* text, char* out, unsigned size) {
  if (text == nullptr || !text->is_text()) return kNotSupported;
  if (text->as_text().size() >= size) return kInsufficientSize;
  std::memcpy(out, text->as_text().c_str(), text->as_text().size() + 1);
  return kSuccess;
}

std::size_t index_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle) - 1;
}

Code natural(Handle handle, const char* call, const char* key, unsigned* out) {
  return with_board(handle, call, true, [&](const Value& board) {
    const double value = number(board, key, -1);
    if (value < 0) return kNotSupported;
    *out = static_cast<unsigned>(value);
    return kSuccess;
  });
}

double counter(const Value& board, const std::string& name) {
  const double step = std::floor(world().age_s() / kEnergyPeriod_s) * kEnergyPeriod_s;
  return std::floor(entry(board, "counters", name, -1) + entry(board, "rates", name, 0) * step);
}

}  // namespace falcon::test::fake
