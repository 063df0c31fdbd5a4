#include "fake_machine.h"

#include <algorithm>
#include <cmath>

namespace falcon::telemetry {
namespace {

std::string whole(double number) {
  return std::to_string(std::llround(number));
}

}  // namespace

FakeMachine::FakeMachine() {
  root.expand(
      "f sys/devices/system/cpu/online: 0-1\n"
      "f sys/block/vda/size: 100\n"
      "f sys/block/vda/device/vendor: x\n"
      "f sys/block/loop0/size: 100\n"
      "f sys/fs/cgroup/cgroup.controllers: cpu\n"
      "f proc/self/cgroup: 0::/\n");
  nvml_ = std::make_unique<test::FakeNvml>(boards());
}

void FakeMachine::put(const std::string& path, const std::string& text) {
  const bool is_gone = std::any_of(gone_.begin(), gone_.end(), [&](const std::string& gone) {
    return path == gone || path.starts_with(gone + "/");
  });
  if (!is_gone) root.file(path, text);
}

void FakeMachine::take_away(const std::string& path) {
  gone_.push_back(path);
  root.remove(path);
}

std::string FakeMachine::boards() const {
  return R"({"driver": "580.1", "devices": [{"uuid": "GPU-a", "pci": "00000000:01:00.0",
    "memory_bytes": 8000000000, "used_bytes": )" +
         whole(1e9 * load_) + R"(, "gpu_busy_pct": )" + whole(100 * load_) +
         R"(, "memory_busy_pct": )" + whole(50 * load_) + R"(, "sm_mhz": )" +
         whole(1000 + 500 * load_) + R"(, "memory_mhz": 2619, "temperature_c": )" +
         whole(30 + 40 * load_) + R"(, "power_mw": 1, "pcie_rx_kb_s": )" + whole(2000 * load_) +
         R"(, "pcie_tx_kb_s": )" + whole(100 * load_) + R"(, "event_reasons": )" +
         whole(load_ > 0 ? 0x8 + 0x400 : 0x1) + R"(, "counters": {"83": )" +
         whole(200e3 * work_s_) + R"(, "186": )" + whole(200e3 * load_) + R"(, "74": )" +
         whole(0.5e9 * work_s_) + R"(, "269": 0, "138@all": )" + whole(1000 * work_s_) +
         R"(, "139@all": )" + whole(3000 * work_s_) + extra_counters + "}" +
         (has_gpm ? gpm() : "") + board_extras + "}]}";
}

std::string FakeMachine::gpm() const {
  return R"(, "gpm": {"time_s": )" + whole(elapsed_s_) + R"(, "counters": {"2": )" +
         whole(80 * work_s_) + R"(, "5": )" + whole(60 * work_s_) + R"(, "10": )" +
         whole(40 * work_s_) + R"(, "20": )" + whole(100 * work_s_) + R"(, "21": )" +
         whole(1000 * work_s_) + R"(, "60": )" + whole(3500 * work_s_) + R"(, "61": )" +
         whole(1200 * work_s_) + "}}";
}

// Each second of work: CPU 0 busy for it and CPU 1 for half of it, 100 reads of 10 KB and 3 ms, 50
// writes of 4 KB and 2 ms, 1000 page faults.
void FakeMachine::write() {
  const double w = work_s_;
  const auto cpu = [this](double busy_s) {
    return whole(100 * busy_s) + " 0 0 " + whole(100 * (elapsed_s_ - busy_s)) + " 0 0 0 0 0 0\n";
  };
  put("proc/stat", "cpu  " + whole(150 * w) + " 0 0 " + whole(100 * (2 * elapsed_s_ - 1.5 * w)) +
                       " 0 0 0 0 0 0\ncpu0 " + cpu(w) + "cpu1 " + cpu(w / 2) +
                       "intr 1\nprocs_running " + whole(1 + 4 * load_) + "\n");
  put("proc/loadavg", "1.25 0.5 0.1 2/300 77\n");
  put("proc/net/dev",
      "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n  eth0: " + whole(4000 * w) +
          " " + whole(40 * w) + " " + whole(2 * w) + " 0 0 0 0 0 " + whole(600 * w) + " " +
          whole(6 * w) + " " + whole(2 * w) + " 5 0 0 0 0\n");
  put("proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: " +
                          whole(900000 - 500000 * load_) + " kB\n");
  put("proc/vmstat", "pgfault " + whole(1000 * w) + "\npgmajfault " + whole(10 * w) + "\n");
  put("proc/diskstats", "   7       0 loop0 1 0 1 1 1 0 1 1 0 1 1\n 254       0 vda " +
                            whole(100 * w) + " 0 " + whole(2000 * w) + " " + whole(300 * w) + " " +
                            whole(50 * w) + " 0 " + whole(400 * w) + " " + whole(100 * w) + " 0 " +
                            whole(250 * w) + " " + whole(400 * w) + " 0 0 0 0\n");
  put("sys/fs/cgroup/cpu.stat", "usage_usec 1\nthrottled_usec " + whole(1e5 * w) + "\n");
  put("proc/77/stat", "77 (worker) S 1 7 7 0 -1 0 " + whole(400 * w) + " 0 " + whole(20 * w) +
                          " 0 " + whole(120 * w) + " " + whole(30 * w) + " 0 0 20 0 1 0 100 0 " +
                          whole(1000 * load_) + " 0\n");
  put("proc/77/io", "read_bytes: " + whole(1e6 * w) + "\nwrite_bytes: " + whole(2e5 * w) + "\n");
  nvml_->replace(boards());
}

void FakeMachine::begin(const std::optional<std::vector<std::string>>& chosen) {
  write();
  SamplerContext context;
  context.root = root.path();
  context.nvml = nvml_->open();
  context.gpus = {DevicePlan{"cuda", "GPU-a", "0000:01:00.0", "Fake"}};
  context.processes = {{77, "rank 0"}};
  context.chassis = chassis;
  session_ = std::make_unique<Session>(
      make_samplers(context, chosen),
      SessionOptions{.interval_ms = 1000, .series = true, .raw_file = raw_file, .clock = [this] {
                       return now_s_;
                     }});
}

void FakeMachine::run(const std::vector<double>& loads) {
  session_->tick();
  session_->begin_window(now_s_);
  go_on(loads);
}

void FakeMachine::go_on(const std::vector<double>& loads) {
  for (const double load : loads) {
    load_ = load;
    work_s_ += load;
    elapsed_s_ += 1;
    now_s_ += 1;
    write();
    session_->tick();
  }
  session_->end_window(now_s_);
}

Telemetry FakeMachine::measure(const std::vector<double>& loads) {
  FakeMachine machine;
  machine.begin();
  machine.run(loads);
  return machine.result();
}

}  // namespace falcon::telemetry
