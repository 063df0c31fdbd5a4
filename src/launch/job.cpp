#include "launch/job.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::launch {
namespace {

// Below the ports that the kernel gives out by itself.
constexpr int kFirstDerivedPort = 20000;
constexpr int kDerivedPorts = 10000;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ExitCode::kUsage, "environment: " + what + " (docs/many-hosts.md)");
}

/// A number that stands in a variable.
struct Place {
  std::string variable;
  int value = 0;
  std::string text() const { return variable + "=" + std::to_string(value); }
};

/// What one source says of this process.
struct Source {
  std::string started_by;
  std::optional<Place> rank, world, local_rank, local_world;
  bool is_complete() const { return rank && world && local_rank && local_world; }
  bool is_there() const { return rank || world; }
};

class Reading {
 public:
  explicit Reading(const Variables& variables) : variables_(variables) {}

  std::string text(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? "" : found->second;
  }
  bool has(const std::string& name) const { return !text(name).empty(); }

  std::optional<Place> number(const std::string& name) const {
    const std::string word = text(name);
    if (word.empty()) return {};
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0) {
      refuse(name + "=" + base::printable(word) + " is no number from 0");
    }
    return Place{name, value};
  }
  std::optional<Place> first_number(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      if (auto found = number(name)) return found;
    }
    return {};
  }

 private:
  const Variables& variables_;
};

bool is_slurm_task(const Reading& reading) {
  // a batch script has the variables of a task, but is none
  const bool is_batch_script = reading.text("ENVIRONMENT") == "BATCH" &&
                               !reading.has("SLURM_STEP_ID") && !reading.has("SLURM_STEPID");
  return reading.has("SLURM_PROCID") && !is_batch_script;
}

/// "2(x3),1" -> 2 2 2 1
std::vector<int> tasks_of_nodes(const Reading& reading, const std::string& name) {
  std::vector<int> tasks;
  for (const std::string& part : base::split(reading.text(name), ',')) {
    int count = 0, times = 1;
    const char* end = part.data() + part.size();
    const auto [after, error] = std::from_chars(part.data(), end, count);
    if (error != std::errc()) return {};
    if (end - after > 3 && after[0] == '(' && after[1] == 'x') {
      std::from_chars(after + 2, end, times);
    }
    tasks.insert(tasks.end(), static_cast<std::size_t>(times), count);
  }
  return tasks;
}

std::optional<Place> slurm_local_world(const Reading& reading, const std::optional<Place>& world) {
  const auto node = reading.number("SLURM_NODEID");
  for (const char* name : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
    if (!reading.has(name)) continue;
    const std::vector<int> tasks = tasks_of_nodes(reading, name);
    const auto index = static_cast<std::size_t>(node ? node->value : 0);
    if (index < tasks.size()) return Place{name, tasks[index]};
  }
  if (auto tasks = reading.number("SLURM_NTASKS_PER_NODE")) return tasks;
  const auto nodes =
      reading.first_number({"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
  if (!world || !nodes || nodes->value == 0 || world->value % nodes->value != 0) return {};
  return Place{world->variable + " / " + nodes->variable, world->value / nodes->value};
}

std::vector<Source> read_sources(const Reading& reading) {
  std::vector<Source> sources;
  sources.push_back({reading.has("TORCHELASTIC_RUN_ID") ? "torchrun" : "RANK",
                     reading.number("RANK"), reading.number("WORLD_SIZE"),
                     reading.number("LOCAL_RANK"), reading.number("LOCAL_WORLD_SIZE")});
  sources.push_back(
      {"mpirun", reading.number("OMPI_COMM_WORLD_RANK"), reading.number("OMPI_COMM_WORLD_SIZE"),
       reading.number("OMPI_COMM_WORLD_LOCAL_RANK"), reading.number("OMPI_COMM_WORLD_LOCAL_SIZE")});
  sources.push_back({"mpiexec", reading.first_number({"PMI_RANK", "PMIX_RANK"}),
                     reading.number("PMI_SIZE"), reading.number("MPI_LOCALRANKID"),
                     reading.number("MPI_LOCALNRANKS")});
  Source slurm{"srun", {}, {}, {}, {}};
  if (is_slurm_task(reading)) {
    slurm.rank = reading.number("SLURM_PROCID");
    slurm.world = reading.first_number({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"});
    slurm.local_rank = reading.number("SLURM_LOCALID");
    slurm.local_world = slurm_local_world(reading, slurm.world);
  }
  sources.push_back(slurm);
  return sources;
}

std::string missing_text(const Source& source) {
  const std::string what = source.rank ? source.rank->text() : source.world->text();
  std::vector<std::string> missing;
  if (!source.rank) missing.emplace_back("the rank");
  if (!source.world) missing.emplace_back("the number of processes");
  if (!source.local_rank) missing.emplace_back("the rank on this host");
  if (!source.local_world) missing.emplace_back("the number of processes on this host");
  static const std::map<std::string, std::string> needed = {
      {"RANK", "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE"},
      {"torchrun", "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE"},
      {"mpirun",
       "OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK, "
       "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"mpiexec", "PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS"},
      {"srun", "SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_TASKS_PER_NODE"}};
  return what + " is set, but nothing tells " + base::join(missing, ", ") +
         "; needed: " + needed.at(source.started_by);
}

void check_range(const Source& source) {
  if (source.rank->value >= source.world->value) {
    refuse(source.rank->text() + " contradicts " + source.world->text());
  }
  if (source.local_world->value > source.world->value) {
    refuse(source.local_world->text() + " contradicts " + source.world->text());
  }
  if (source.local_rank->value >= source.local_world->value) {
    refuse(source.local_rank->text() + " contradicts " + source.local_world->text());
  }
}

void check_same(const std::optional<Place>& ours, const std::optional<Place>& theirs) {
  if (!ours || !theirs || ours->value == theirs->value) return;
  refuse(ours->text() + " contradicts " + theirs->text());
}

void check_others(const Source& chosen, const std::vector<Source>& sources) {
  if (chosen.started_by == "torchrun") return;
  for (const Source& other : sources) {
    if (&other == &chosen || !other.is_there()) continue;
    const bool is_other_number = other.world && other.world->value != chosen.world->value;
    // mpirun inside a Slurm job: Slurm's variables are those of mpirun's own helper
    if (is_other_number && chosen.started_by != "RANK") continue;
    check_same(chosen.world, other.world);
    check_same(chosen.rank, other.rank);
    check_same(chosen.local_rank, other.local_rank);
  }
}

std::string key_of(const Reading& reading, const Source& source) {
  std::string key = source.started_by;
  const std::vector<std::string> names =
      source.started_by == "torchrun"
          ? std::vector<std::string>{"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
                                     "MASTER_PORT"}
      : source.started_by == "srun"
          ? std::vector<std::string>{"SLURM_JOB_ID", "SLURM_STEP_ID", "MASTER_PORT"}
          : std::vector<std::string>{"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_KVSNAME",
                                     "MASTER_PORT"};
  for (const std::string& name : names) key += "/" + reading.text(name);
  return base::sha256_hex(key + "/" + std::to_string(source.world->value) + "/" +
                          reading.text("FALCONBENCH_RUN_KEY"));
}

std::string node_of(const Reading& reading, const Source& source) {
  std::string name = reading.text("FALCONBENCH_HOSTNAME");
  if (source.started_by == "torchrun") return name + "/" + reading.text("GROUP_RANK");
  if (source.started_by == "srun") return name + "/" + reading.text("SLURM_NODEID");
  return name;
}

void find_master(const Reading& reading, Job& job) {
  job.master_address = reading.text("MASTER_ADDR");
  if (job.master_address.empty() && job.started_by == "srun") {
    for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
      if (job.master_address.empty()) job.master_address = first_host(reading.text(name));
    }
  }
  if (job.master_address.empty() && !job.is_on_one_host()) {
    refuse(
        "MASTER_ADDR is not set: several hosts need the address of the one with rank 0, the "
        "same for all (mpirun -x MASTER_ADDR=HOST)");
  }
  const auto port = reading.number("MASTER_PORT");
  if (port && (port->value < 1 || port->value > 65535)) refuse(port->text() + " is no port");
  const int derived =
      kFirstDerivedPort + std::stoi(job.key.substr(0, 6), nullptr, 16) % kDerivedPorts;
  job.master_port = port ? port->value : derived;
}

}  // namespace

std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return "";
  const std::size_t close = list.find(']', bracket);
  const std::size_t after = list.find(',', close);
  const std::string tail =
      close == std::string::npos ? "" : list.substr(close + 1, after - close - 1);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) + tail;
}

std::optional<Job> read_job(const Variables& variables) {
  const Reading reading(variables);
  const std::vector<Source> sources = read_sources(reading);
  const Source* chosen = nullptr;
  for (const Source& source : sources) {
    if (chosen == nullptr && source.is_complete()) chosen = &source;
  }
  if (chosen == nullptr) {
    for (const Source& source : sources) {
      const bool is_alone = source.world && source.world->value == 1;
      if (source.is_there() && !is_alone) refuse(missing_text(source));
    }
    return {};
  }
  const Source& first = sources.front();
  if (first.is_there() && chosen != &first) refuse(missing_text(first));
  check_range(*chosen);
  check_others(*chosen, sources);
  if (chosen->world->value == 1) return {};
  Job job;
  job.started_by = chosen->started_by;
  job.rank = chosen->rank->value;
  job.world = chosen->world->value;
  job.local_rank = chosen->local_rank->value;
  job.local_world = chosen->local_world->value;
  job.key = key_of(reading, *chosen);
  job.node = node_of(reading, *chosen);
  job.has_agent_store = chosen == &first && reading.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  find_master(reading, job);
  return job;
}

}  // namespace falcon::launch
