// The environment of a process, read: who comes first, what contradicts, what is missing.
#include "launch/job.h"

#include <gmock/gmock.h>

#include "falconbench/errors.h"

namespace falcon::launch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Variables kTorchrun = {{"RANK", "3"},
                             {"WORLD_SIZE", "4"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "2"},
                             {"GROUP_RANK", "1"},
                             {"MASTER_ADDR", "node1"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "none"},
                             {"TORCHELASTIC_RESTART_COUNT", "0"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "2"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"PMIX_RANK", "2"},
                           {"PMIX_NAMESPACE", "1234"},
                           {"MASTER_ADDR", "node1"}};
const Variables kSrun = {{"SLURM_PROCID", "2"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_NODEID", "1"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                         {"SLURM_JOB_NODELIST", "gpu[07-08]"}};
const Variables kMpiexec = {
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}
Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

std::string refusal(const Variables& variables) {
  try {
    read_job(variables);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(Job, OfTorchrun) {
  const std::optional<Job> job = read_job(kTorchrun);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->started_by, "torchrun");
  EXPECT_EQ(job->rank, 3);
  EXPECT_EQ(job->world, 4);
  EXPECT_EQ(job->local_rank, 1);
  EXPECT_EQ(job->local_world, 2);
  EXPECT_EQ(job->master_address, "node1");
  EXPECT_EQ(job->master_port, 29500);
  EXPECT_TRUE(job->has_agent_store);
  EXPECT_FALSE(job->is_on_one_host());
  EXPECT_EQ(job->node, "/1");
}

TEST(Job, OfVariablesSetByHandHasNoAgent) {
  Variables variables = kTorchrun;
  for (const char* name : {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE"}) {
    variables.erase(name);
  }
  const std::optional<Job> job = read_job(variables);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->started_by, "RANK");
  EXPECT_FALSE(job->has_agent_store);
}

TEST(Job, OfOpenMpi) {
  const std::optional<Job> job = read_job(kMpirun);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->started_by, "mpirun");
  EXPECT_EQ(job->rank, 2);
  EXPECT_EQ(job->local_world, 2);
  EXPECT_FALSE(job->has_agent_store);
  EXPECT_GE(job->master_port, 20000);
  EXPECT_LT(job->master_port, 30000);
}

TEST(Job, OfPmi) {
  const std::optional<Job> job = read_job(kMpiexec);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->started_by, "mpiexec");
  EXPECT_EQ(job->rank, 1);
  EXPECT_TRUE(job->is_on_one_host());
}

TEST(Job, OfASlurmStep) {
  const std::optional<Job> job = read_job(kSrun);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->started_by, "srun");
  EXPECT_EQ(job->rank, 2);
  EXPECT_EQ(job->world, 4);
  EXPECT_EQ(job->local_world, 2);
  EXPECT_EQ(job->master_address, "gpu07");
}

TEST(Job, SlurmsNumberOfTasksOnTheHostIsFoundInManyWays) {
  const Variables bare = without(kSrun, "SLURM_STEP_TASKS_PER_NODE");
  EXPECT_EQ(read_job(with(bare, {{"SLURM_TASKS_PER_NODE", "3,1"}}))->local_world, 1);
  EXPECT_EQ(read_job(with(bare, {{"SLURM_NTASKS_PER_NODE", "2"}}))->local_world, 2);
  EXPECT_EQ(read_job(with(bare, {{"SLURM_NNODES", "4"}}))->local_world, 1);
  EXPECT_THAT(refusal(bare), AllOf(HasSubstr("SLURM_PROCID=2"),
                                   HasSubstr("the number of processes on this host")));
}

TEST(Job, APieceOfAJobOfOneIsNone) {
  EXPECT_FALSE(read_job({}));
  EXPECT_FALSE(read_job({{"LOCAL_RANK", "0"}, {"PATH", "/bin"}}));
  EXPECT_FALSE(read_job(
      {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}}));
  EXPECT_FALSE(read_job({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
}

TEST(Job, ABatchScriptIsNoTask) {
  const Variables script = with(without(kSrun, "SLURM_STEP_ID"), {{"ENVIRONMENT", "BATCH"}});
  EXPECT_FALSE(read_job(script));
  EXPECT_TRUE(read_job(with(script, {{"SLURM_STEP_ID", "0"}}))) << "srun inherits ENVIRONMENT";
}

TEST(Job, TheInnermostLauncherCounts) {
  // one task of srun a host is torchrun, which starts the ranks
  const Variables task = {{"SLURM_PROCID", "1"},
                          {"SLURM_NTASKS", "2"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_NNODES", "2"}};
  EXPECT_EQ(read_job(with(task, kTorchrun))->started_by, "torchrun");
  // agents number processes as they like, also when there is one a host
  const Variables one_a_host = {
      {"WORLD_SIZE", "2"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}};
  EXPECT_EQ(read_job(with(with(task, kTorchrun), one_a_host))->rank, 0);
  // Slurm's variables are those of mpirun's helper
  EXPECT_EQ(read_job(with(task, kMpirun))->started_by, "mpirun");
  EXPECT_EQ(read_job(with(kMpirun, without(without(kTorchrun, "RANK"), "WORLD_SIZE")))->started_by,
            "mpirun");
}

TEST(Job, ContradictionsNameBoth) {
  EXPECT_THAT(refusal(with(kTorchrun, {{"RANK", "4"}})),
              AllOf(HasSubstr("RANK=4"), HasSubstr("WORLD_SIZE=4")));
  EXPECT_THAT(refusal(with(kTorchrun, {{"LOCAL_RANK", "2"}})),
              AllOf(HasSubstr("LOCAL_RANK=2"), HasSubstr("LOCAL_WORLD_SIZE=2")));
  EXPECT_THAT(refusal(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "5"}})),
              AllOf(HasSubstr("LOCAL_WORLD_SIZE=5"), HasSubstr("WORLD_SIZE=4")));
  EXPECT_THAT(refusal(with(kMpirun, {{"PMIX_RANK", "1"}})),
              AllOf(HasSubstr("OMPI_COMM_WORLD_RANK=2"), HasSubstr("PMIX_RANK=1")));
  EXPECT_THAT(refusal(with(kSrun, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}})),
              AllOf(HasSubstr("SLURM_PROCID=2"), HasSubstr("PMI_RANK=3")));
  EXPECT_THAT(refusal(with(kMpirun,
                           {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "1"}})),
              AllOf(HasSubstr("OMPI_COMM_WORLD_RANK=2"), HasSubstr("SLURM_PROCID=1")));
}

TEST(Job, RanksSetByHandMustAgreeWithAllOthers) {
  const Variables by_hand = without(kTorchrun, "TORCHELASTIC_RUN_ID");
  EXPECT_THAT(
      refusal(with(by_hand, {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}})),
      AllOf(HasSubstr("RANK=3"), HasSubstr("OMPI_COMM_WORLD_RANK=2")));
  EXPECT_THAT(refusal(with(by_hand, {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}})),
              AllOf(HasSubstr("WORLD_SIZE=4"), HasSubstr("SLURM_NTASKS=8")));
  EXPECT_EQ(read_job(with(by_hand, {{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}}))->rank, 3);
}

TEST(Job, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal(without(kTorchrun, "LOCAL_RANK")),
              AllOf(HasSubstr("RANK=3"), HasSubstr("the rank on this host"),
                    HasSubstr("LOCAL_WORLD_SIZE")));
  // half of a source that would come first is not passed over
  EXPECT_THAT(refusal(with(kMpirun, {{"RANK", "2"}})), HasSubstr("RANK=2 is set, but"));
  EXPECT_THAT(refusal(without(kMpirun, "MASTER_ADDR")), HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(refusal({{"PMIX_RANK", "0"}}), HasSubstr("PMIX_RANK=0 is set, but"));
}

TEST(Job, NumbersAreNumbers) {
  EXPECT_THAT(refusal(with(kTorchrun, {{"RANK", "one"}})), HasSubstr("RANK=one is no number"));
  EXPECT_THAT(refusal(with(kTorchrun, {{"RANK", "-1"}})), HasSubstr("RANK=-1 is no number"));
  EXPECT_THAT(refusal(with(kTorchrun, {{"MASTER_PORT", "70000"}})), HasSubstr("is no port"));
}

TEST(Job, TheKeyIsThatOfTheJob) {
  const auto key = [](const Variables& variables) { return read_job(variables)->key; };
  EXPECT_EQ(key(kTorchrun), key(with(kTorchrun, {{"RANK", "0"}, {"LOCAL_RANK", "0"}})));
  EXPECT_EQ(key(kTorchrun), key(with(kTorchrun, {{"MASTER_ADDR", "other"}}))) << "another name";
  EXPECT_NE(key(kTorchrun), key(with(kTorchrun, {{"MASTER_PORT", "29501"}})));
  EXPECT_NE(key(kTorchrun), key(with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", "1"}})));
  EXPECT_NE(key(kSrun), key(with(kSrun, {{"SLURM_STEP_ID", "1"}})));
  EXPECT_NE(key(kSrun), key(with(kSrun, {{"FALCONBENCH_RUN_KEY", "secret"}})));
}

TEST(Job, FirstHostOfASlurmList) {
  EXPECT_EQ(first_host("gpu[07-10,12],login"), "gpu07");
  EXPECT_EQ(first_host("gpu[3]"), "gpu3");
  EXPECT_EQ(first_host("rack[1-2]-ib,x"), "rack1-ib");
  EXPECT_EQ(first_host("alone"), "alone");
  EXPECT_EQ(first_host("a,b[1-2]"), "a");
  EXPECT_EQ(first_host(""), "");
}

}  // namespace
}  // namespace falcon::launch
