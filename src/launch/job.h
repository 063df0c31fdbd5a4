// What a launcher of processes (torchrun, mpirun, srun) says about this process in its environment.
// Pure: a function of the variables.
#pragma once
#include <map>
#include <optional>
#include <string>

namespace falcon::launch {

/// One process of a job of several.
struct Job {
  std::string started_by;  // torchrun, RANK, mpirun, mpiexec or srun
  int rank = 0, world = 1;
  int local_rank = 0, local_world = 1;  // on this host
  std::string master_address;           // of the first host; may be empty for a job on one host
  int master_port = 0;
  bool has_agent_store = false;  // torchrun's agent serves a c10d store at master_port
  std::string key;               // the same in all processes of this job, in no other job
  std::string node;              // which host of the job, as the launcher counts; may be empty

  bool is_on_one_host() const { return local_world == world; }
};

using Variables = std::map<std::string, std::string>;

/// Nothing for a process that was started alone: by hand, as the only one of its job, or as the
/// batch script of a Slurm job. The first complete source counts:
///
///   1. torchrun    RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE (set by hand too)
///   2. Open MPI    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
///   3. PMI         PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
///   4. Slurm step  SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID
///
/// Other sources that speak of as many processes speak of the same ones and must agree (PMI_RANK
/// and PMIX_RANK without the rest too); those of another number are the launcher around it, unless
/// RANK was set by hand. torchrun's agents number their processes as they like, so what is around
/// them is not compared. Throws Error(kUsage) naming both variables of a contradiction, what is
/// missing of a source, or what is no such number.
std::optional<Job> read_job(const Variables& variables);

/// The first host of a Slurm list of hosts: "gpu[07-10,12],login" gives "gpu07".
std::string first_host(const std::string& list);

}  // namespace falcon::launch
