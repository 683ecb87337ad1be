// Which launcher's or scheduler's word counts, and where ranks meet.
#include "comm/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "comm/schedulers/mpi.h"
#include "comm/schedulers/slurm.h"
#include "comm/schedulers/slurm_lists.h"
#include "comm/session_port.h"
#include "support/temporary_folder.h"
#include "tandem/error.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Variables = std::map<std::string, std::string>;

// What a real srun of Slurm 22.05 told task 2 of 4 on two nodes.
const Variables kStep = {{"SLURM_JOB_ID", "41"},          {"SLURM_STEP_ID", "3"},
                         {"SLURM_PROCID", "2"},           {"SLURM_LOCALID", "0"},
                         {"SLURM_NODEID", "1"},           {"SLURM_NTASKS", "4"},
                         {"SLURM_STEP_NUM_TASKS", "4"},   {"SLURM_STEP_NUM_NODES", "2"},
                         {"SLURM_JOB_NUM_NODES", "2"},    {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                         {"SLURM_STEP_NODELIST", "n[07-08]"}, {"SLURMD_NODENAME", "n08"}};
// A real mpirun of Open MPI 4.1, rank 1 of 2.
const Variables kMpirun = {{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"OMPI_MCA_orte_hnp_uri", "6365.0;tcp://192.0.2.2,10.0.0.2:37431;tcp6://[fd00::2]:60599"},
                           {"PMIX_NAMESPACE", "636551169"},
                           {"PMIX_RANK", "1"}};
const Variables kLauncher = {{"RANK", "5"},        {"WORLD_SIZE", "8"},        {"LOCAL_RANK", "1"},
                             {"MASTER_ADDR", "a"}, {"MASTER_PORT", "29512"}};

Variables both(Variables some, const Variables& more) {
  some.insert(more.begin(), more.end());
  return some;
}

Variables with(Variables some, const std::string& name, const std::string& value) {
  some[name] = value;
  return some;
}

class LaunchEnvironmentOf : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::string> names;
    for (char** entry = environ; *entry; ++entry) {
      const std::string name = std::string(*entry).substr(0, std::string(*entry).find('='));
      for (const char* family : {"SLURM", "OMPI_", "PMI", "MPI_", "PET_", "MASTER_", "RANK", "WORLD_SIZE", "LOCAL_",
                                 "GROUP_RANK", "JOB_COMPLETION_INDEX", "TORCHELASTIC_"}) {
        if (name.rfind(family, 0) == 0) names.push_back(name);
      }
    }
    for (const std::string& name : names) unsetenv(name.c_str());
  }
  void TearDown() override { SetUp(); }

  static void set(const Variables& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }

  LaunchEnvironment read(const Variables& variables) {
    SetUp();
    set(variables);
    return read_launch_environment(-1, -1);
  }

  std::string refusal(const Variables& variables) {
    try {
      read(variables);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  }
};

TEST_F(LaunchEnvironmentOf, SlurmsStep) {
  const LaunchEnvironment got = read(kStep);
  EXPECT_EQ(got.rank, 2);
  EXPECT_EQ(got.world_size, 4);
  EXPECT_EQ(got.master_address, "n07");
  EXPECT_EQ(got.job_prefix, "tandem/slurm-41.3/0");
  EXPECT_GE(got.master_port, 20000);
  EXPECT_LT(got.master_port, 32000);
  EXPECT_THAT(got.note, AllOf(HasSubstr("41.3"), HasSubstr("n07"), HasSubstr("MASTER_PORT")));
  const auto step = read_slurm_step();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->local_world_size, 2);
  EXPECT_EQ(step->node_rank, 1);
}

TEST_F(LaunchEnvironmentOf, StepsOfAJobHavePortsOfTheirOwn) {
  const auto port = [&](const char* job, const char* step) {
    return read(with(with(kStep, "SLURM_JOB_ID", job), "SLURM_STEP_ID", step)).master_port;
  };
  EXPECT_NE(port("41", "3"), port("41", "4"));
  EXPECT_NE(port("41", "3"), port("42", "3"));
  EXPECT_EQ(port("41", "3"), port("41", "3"));
}

TEST_F(LaunchEnvironmentOf, OneNodeMeetsOnLoopback) {
  const Variables one = {{"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_NODEID", "0"}, {"SLURM_STEP_NODELIST", "n07"},
                         {"SLURM_STEP_TASKS_PER_NODE", "4"}};
  EXPECT_EQ(read(both(one, kStep)).master_address, "127.0.0.1");
}

TEST_F(LaunchEnvironmentOf, ANameThatMeansLoopbackIsNoPlaceForSeveralHosts) {
  const Variables first = {{"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}, {"SLURM_STEP_NODELIST", "localhost,n08"}};
  EXPECT_THAT(refusal(both(first, kStep)), AllOf(HasSubstr("localhost is 127.0.0.1 on that host"), HasSubstr("MASTER_ADDR")));
  EXPECT_EQ(read(with(both(first, kStep), "MASTER_ADDR", "10.0.0.7")).master_address, "10.0.0.7");
  EXPECT_EQ(read(with(both(first, kStep), "SLURM_STEP_NODELIST", "127.0.0.[1-2]")).master_address, "127.0.0.1");
}

TEST_F(LaunchEnvironmentOf, TheInnermostCounts) {
  // mpirun in an allocation starts its daemons by srun: SLURM_PROCID is a daemon's.
  EXPECT_EQ(read(with(both(kMpirun, kStep), "MASTER_ADDR", "a")).world_size, 2);
  // tandem run in a task of a step sets RANK for its workers.
  const LaunchEnvironment launched = read(both(kLauncher, both(kMpirun, kStep)));
  EXPECT_EQ(launched.rank, 5);
  EXPECT_EQ(launched.world_size, 8);
  EXPECT_EQ(launched.master_port, 29512);
  EXPECT_EQ(launched.note, "");
  // srun's own PMI and PMIx are Slurm's.
  EXPECT_EQ(read(both({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"PMI_JOBID", "41.3"}}, kStep)).master_address, "n07");
  EXPECT_EQ(read(both({{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "slurm.pmix.41.3"}}, kStep)).master_address, "n07");
  // mpiexec of MPICH in a step is not.
  const Variables hydra = {{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MASTER_ADDR", "b"}};
  EXPECT_EQ(read(both(hydra, kStep)).world_size, 3);
  // A pod may run any of them.
  EXPECT_EQ(read(both({{"JOB_COMPLETION_INDEX", "0"}}, kStep)).rank, 2);
}

TEST_F(LaunchEnvironmentOf, MasterAddrAndPortAreTheUsersToSay) {
  const LaunchEnvironment both_given = read(both({{"MASTER_ADDR", "m"}, {"MASTER_PORT", "4000"}}, kStep));
  EXPECT_EQ(both_given.master_address, "m");
  EXPECT_EQ(both_given.master_port, 4000);
  EXPECT_EQ(read(with(kStep, "MASTER_ADDR", "m")).master_port, read(kStep).master_port);
  EXPECT_EQ(read(with(kStep, "MASTER_PORT", "4000")).master_address, "n07");
  EXPECT_THAT(refusal(with(kStep, "MASTER_PORT", "70000")), HasSubstr("MASTER_PORT is '70000'"));
}

TEST_F(LaunchEnvironmentOf, AWorldSizeOfAnotherSizeIsAMistake) {
  EXPECT_EQ(read(with(kStep, "WORLD_SIZE", "4")).world_size, 4);
  EXPECT_THAT(refusal(with(kStep, "WORLD_SIZE", "8")), HasSubstr("WORLD_SIZE is 8, but Slurm started 4"));
}

TEST_F(LaunchEnvironmentOf, AProgramInABatchScriptIsNoRank) {
  const Variables batch = {{"SLURM_JOB_ID", "41"}, {"SLURM_PROCID", "0"},    {"SLURM_NTASKS", "4"},
                           {"SLURM_NNODES", "2"},  {"SLURMD_NODENAME", "n7"}, {"SLURM_TASKS_PER_NODE", "3,1"}};
  EXPECT_THAT(refusal(batch), AllOf(HasSubstr("Slurm's job 41"), HasSubstr("`srun program`"), HasSubstr("tandem run")));
  // salloc's shell, where Slurm makes it a step.
  EXPECT_THAT(refusal(with(batch, "SLURM_STEP_ID", "4294967290")), HasSubstr("`srun program`"));
  set(batch);
  const auto allocation = read_slurm_allocation();
  ASSERT_TRUE(allocation);
  EXPECT_TRUE(allocation->is_on_node);
  EXPECT_THAT(allocation->tasks_per_node, ElementsAre(3, 1));
}

TEST_F(LaunchEnvironmentOf, AllocationsSayTasksOnlyWhereTheyWereAskedFor) {
  const Variables job = {{"SLURM_JOB_ID", "41"}, {"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_TASKS_PER_NODE", "8(x2)"},
                         {"SLURM_GPUS_PER_NODE", "a100:3,v100:1"}};
  set(job);
  EXPECT_THAT(read_slurm_allocation()->tasks_per_node, ElementsAre(1, 1));
  EXPECT_EQ(read_slurm_allocation()->gpus_per_node, 4);
  EXPECT_FALSE(read_slurm_allocation()->is_on_node);
  set({{"SLURM_NTASKS_PER_NODE", "8"}});
  EXPECT_THAT(read_slurm_allocation()->tasks_per_node, ElementsAre(8, 8));
  set(kStep);
  EXPECT_FALSE(read_slurm_allocation());
}

TEST_F(LaunchEnvironmentOf, OpenMpiOnOneHostUsesTheFolderOfTheJob) {
  testing::TemporaryFolder folder;
  chmod(folder.path.c_str(), 0700);
  const LaunchEnvironment got = read(with(kMpirun, "PMIX_SERVER_TMPDIR", folder.path.string()));
  EXPECT_EQ(got.rank, 1);
  EXPECT_EQ(got.master_address, "127.0.0.1");
  EXPECT_EQ(got.master_port, 0);
  EXPECT_EQ(got.session_folder, folder.path.string());
  // A folder that others may write says nothing.
  chmod(folder.path.c_str(), 0777);
  EXPECT_THAT(refusal(with(kMpirun, "PMIX_SERVER_TMPDIR", folder.path.string())),
              AllOf(HasSubstr("Open MPI started 2"), HasSubstr("mpirun -x MASTER_ADDR=")));
}

TEST_F(LaunchEnvironmentOf, OpenMpiOnSeveralHostsMeetsWhereMpirunRuns) {
  const LaunchEnvironment got = read(with(kMpirun, "OMPI_COMM_WORLD_LOCAL_SIZE", "1"));
  EXPECT_EQ(got.master_address, "192.0.2.2");
  EXPECT_GE(got.master_port, 20000);
  EXPECT_THAT(got.note, AllOf(HasSubstr("192.0.2.2"), HasSubstr("mpirun -x MASTER_ADDR=host")));
  const Variables without_uri = with(with(kMpirun, "OMPI_COMM_WORLD_LOCAL_SIZE", "1"), "OMPI_MCA_orte_hnp_uri", "");
  EXPECT_THAT(refusal(without_uri), HasSubstr("mpirun -x MASTER_ADDR=host -x MASTER_PORT=29500"));
  EXPECT_EQ(address_of_uri("1.0;tcp6://[fd00::2]:1"), "");
  EXPECT_EQ(address_of_uri("tcp://10.1.2.3:1"), "10.1.2.3");
}

TEST_F(LaunchEnvironmentOf, PmiAndPmixNeedAPlace) {
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), HasSubstr("mpiexec -genv MASTER_ADDR host"));
  const LaunchEnvironment got = read({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "m"}});
  EXPECT_EQ(got.rank, 1);
  EXPECT_EQ(got.master_port, 29500);
  EXPECT_EQ(read({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"MPI_LOCALNRANKS", "1"}}).master_address, "127.0.0.1");
  const Variables pmix = {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-host-1@1"}, {"MASTER_ADDR", "m"}};
  EXPECT_THAT(refusal(pmix), HasSubstr("set WORLD_SIZE"));
  EXPECT_EQ(read(with(pmix, "WORLD_SIZE", "3")).world_size, 3);
}

TEST_F(LaunchEnvironmentOf, Pods) {
  // Kubeflow's TrainJob has variables for launchers alone.
  const Variables train_job = {
      {"PET_NNODES", "3"}, {"PET_NODE_RANK", "2"}, {"PET_MASTER_ADDR", "job-0"}, {"PET_MASTER_PORT", "23456"}};
  const LaunchEnvironment got = read(train_job);
  EXPECT_EQ(got.rank, 2);
  EXPECT_EQ(got.world_size, 3);
  EXPECT_EQ(got.master_address, "job-0");
  EXPECT_EQ(got.master_port, 23456);
  EXPECT_THAT(refusal(with(train_job, "PET_NPROC_PER_NODE", "4")), HasSubstr("tandem run"));
  EXPECT_THAT(refusal(with(train_job, "PET_NNODES", "1:4")), HasSubstr("tandem run"));
  // The training operator's RANK is a pod's number.
  EXPECT_EQ(read(with(kLauncher, "PET_NPROC_PER_NODE", "4")).rank, 5);
  Variables pod = with(kLauncher, "PET_NPROC_PER_NODE", "4");
  pod.erase("LOCAL_RANK");
  EXPECT_THAT(refusal(pod), HasSubstr("RANK 5 is the number of a pod"));
  EXPECT_EQ(read(with(pod, "PET_NPROC_PER_NODE", "auto")).rank, 5);
  // An indexed Job.
  const Variables job = {{"JOB_COMPLETION_INDEX", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-0.ranks"}};
  EXPECT_EQ(read(job).rank, 1);
  EXPECT_EQ(read(job).master_port, 29500);
  EXPECT_THAT(refusal({{"JOB_COMPLETION_INDEX", "1"}}), HasSubstr("RANK, WORLD_SIZE")) << "pods of no one world";
  EXPECT_THAT(refusal(with(job, "JOB_COMPLETION_INDEX", "2")), HasSubstr("rank 2 is outside a world of 2"));
}

TEST_F(LaunchEnvironmentOf, WhatMakesNoSenseIsNamed) {
  for (const auto& [name, value] : Variables{{"SLURM_PROCID", "4"},
                                             {"SLURM_STEP_NUM_TASKS", "0"},
                                             {"SLURM_STEP_NODELIST", "n[1-"},
                                             {"SLURM_STEP_TASKS_PER_NODE", "2(x"}, {"SLURM_NODEID", "two"}}) {
    EXPECT_THAT(refusal(with(kStep, name, value)), HasSubstr("'" + value + "'")) << name;
  }
  EXPECT_THAT(refusal(with(kMpirun, "OMPI_COMM_WORLD_RANK", "2")), HasSubstr("OMPI_COMM_WORLD_RANK is '2'"));
}

TEST(SlurmLists, AreExpanded) {
  EXPECT_THAT(expand_node_list("n[1,3-5],m7"), ElementsAre("n1", "n3", "n4", "n5", "m7"));
  EXPECT_THAT(expand_node_list("n[08-11]"), ElementsAre("n08", "n09", "n10", "n11"));
  EXPECT_THAT(expand_node_list("r[1-2]n[1-2]x"), ElementsAre("r1n1x", "r1n2x", "r2n1x", "r2n2x"));
  EXPECT_THAT(expand_node_list("10.0.0.[1-2]"), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(expand_counts("2(x3),1"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_node_list("n[1-1000]", 1000), SizeIs(1000));
}

TEST(SlurmLists, OfOtherTextsAreRefusedBeforeTheyGrow) {
  for (const char* text : {"", "n[1", "n1]", "n[2-1]", "n[]", "n[a]", "a,,b", "n[1-18446744073709551615]", "n[1-1001]",
                           "n[1-40]m[1-40]", "n[1-600],m[1-600]", "n[99999999999999999999]"}) {
    EXPECT_THROW(expand_node_list(text, 1000), Error) << text;
  }
  for (const char* text : {"", "2(x", "2(x0)", "0", "2(x1001)", "1(x600),1(x600)", "-1", "2(y3)", "1001"}) {
    EXPECT_THROW(expand_counts(text, 1000), Error) << text;
  }
}

TEST(SessionPort, IsWhatRankZeroTook) {
  testing::TemporaryFolder folder;
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(20); };
  const std::uint16_t port = take_session_port(folder.path.string(), "job/7");
  EXPECT_EQ(take_session_port(folder.path.string(), "job/7"), port);
  const pid_t other = fork();
  if (other == 0) _exit(await_session_port(folder.path.string(), "job/7", soon(), [] {}) == port ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST(SessionPort, OfAProcessThatHasEndedIsNotTaken) {
  testing::TemporaryFolder folder;
  const pid_t gone = fork();
  if (gone == 0) {
    take_session_port(folder.path.string(), "job");
    _exit(0);
  }
  waitpid(gone, nullptr, 0);
  const auto now = std::chrono::steady_clock::now();
  try {
    await_session_port(folder.path.string(), "job", now + std::chrono::milliseconds(50), [] {});
    FAIL() << "took the port of a process that is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_THAT(error.what(), HasSubstr("rank 0 is missing"));
  }
  struct Cancelled {};
  const auto cancel = [] { throw Cancelled(); };
  EXPECT_THROW(await_session_port(folder.path.string(), "job", now + std::chrono::hours(1), cancel), Cancelled);
}

}  // namespace
}  // namespace tandem
