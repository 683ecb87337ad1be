// What a launch takes from Slurm, and what `tandem run` tells its agents.
#include "launch/slurm_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "cpp/launch/tool.h"
#include "launch/agent_control.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SlurmPlan : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURMD_NODENAME", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE",
          "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
          "SLURM_STEP_NUM_NODES", "SLURM_NODEID", "SLURM_STEP_NODELIST", "SLURM_NTASKS_PER_NODE",
          "SLURM_STEP_TASKS_PER_NODE"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }

  static void set(const std::map<std::string, std::string>& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  static void set_job(const std::string& nodes, const std::string& tasks) {
    set({{"SLURM_JOB_ID", "9"}, {"SLURM_JOB_NUM_NODES", nodes}});
    set({{"SLURMD_NODENAME", "a"}, {"SLURM_TASKS_PER_NODE", tasks}});
  }
};

TEST_F(SlurmPlan, IsThereOnlyForNodesThatAreNotThisMachine) {
  EXPECT_FALSE(plan_for_allocation({}));
  set_job("1", "2");
  EXPECT_FALSE(plan_for_allocation({}));
  unsetenv("SLURMD_NODENAME");  // salloc was called elsewhere
  ASSERT_TRUE(plan_for_allocation({}));
  EXPECT_EQ(plan_for_allocation({})->nodes, 1);
  set_job("3", "2(x2),1");
  set({{"SLURM_NTASKS", "5"}});
  EXPECT_EQ(plan_for_allocation({})->ranks, "2,2,1");
  RunFlags flags;
  flags.nnodes = "2";
  EXPECT_EQ(plan_for_allocation(flags)->ranks, "2,2");
  flags.nnodes = "1";
  EXPECT_FALSE(plan_for_allocation(flags));
  flags.nnodes = "4";
  EXPECT_THROW(plan_for_allocation(flags), Failure);
  for (auto set_flag : {+[](RunFlags& f) { f.standalone = true; }, +[](RunFlags& f) { f.node_rank = "0"; },
                        +[](RunFlags& f) { f.nnodes = "2", f.master_addr = "a"; },
                        +[](RunFlags& f) { f.nnodes = "2", f.rdzv_endpoint = "a:1"; },
                        +[](RunFlags& f) { f.agent = "2"; }}) {
    RunFlags given;
    set_flag(given);
    EXPECT_FALSE(plan_for_allocation(given));
  }
  flags = RunFlags();
  flags.master_addr = "a";
  EXPECT_TRUE(plan_for_allocation(flags)) << "it says where rank 0 is reached, and no more";
}

TEST_F(SlurmPlan, GivesNodesTheirTasksElseTheirGpus) {
  set_job("2", "8(x2)");
  EXPECT_THAT(counts_of_nodes({}), ElementsAre(1, 1)) << "nobody asked for 8 tasks";
  set({{"SLURM_GPUS_ON_NODE", "4"}});
  EXPECT_THAT(counts_of_nodes({}), ElementsAre(4, 4));
  set({{"SLURM_NTASKS_PER_NODE", "8"}});
  EXPECT_THAT(counts_of_nodes({}), ElementsAre(8, 8));
  RunFlags agent;
  agent.agent = "3,1";
  EXPECT_THAT(counts_of_nodes(agent), ElementsAre(3, 1));
}

TEST_F(SlurmPlan, AStepWithATaskOnEachNodeIsOneLaunch) {
  set({{"SLURM_JOB_ID", "9"}, {"SLURM_STEP_ID", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"},
       {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_NODELIST", "n[3-4]"}});
  RunFlags flags;
  take_from_step(flags);
  EXPECT_EQ(flags.nnodes, "2");
  EXPECT_EQ(flags.node_rank, "1");
  EXPECT_EQ(flags.master_addr, "n3");
  EXPECT_FALSE(flags.master_port.empty());
  EXPECT_EQ(flags.launch.run_id, "slurm-9.2");
  RunFlags reached;
  reached.master_addr = "10.0.0.3";
  take_from_step(reached);
  EXPECT_EQ(reached.node_rank, "1");
  EXPECT_EQ(reached.master_addr, "10.0.0.3");
  RunFlags given;
  given.nnodes = "1";
  take_from_step(given);
  EXPECT_EQ(given.master_addr, "");
  set({{"SLURM_NODEID", "0"}, {"SLURM_STEP_NODELIST", "localhost,n4"}});
  RunFlags unreachable;
  EXPECT_THROW(take_from_step(unreachable), Failure);
  set({{"SLURM_STEP_NUM_NODES", "1"}});
  RunFlags twice;
  EXPECT_THROW(take_from_step(twice), Failure);
  RunFlags alone;
  alone.standalone = true;
  take_from_step(alone);
  EXPECT_EQ(alone.nnodes, "");
}

TEST_F(SlurmPlan, WithoutSrunSaysWhatToDo) {
  set_job("2", "1(x2)");
  const Result result = run_tool({"run", "true"}, {"PATH=/nowhere"});
  EXPECT_EQ(result.code, 127);
  EXPECT_THAT(result.err, HasSubstr("srun was not found in PATH; it starts the ranks on the nodes of Slurm's job 9"));
}

TEST(AgentControl, CarriesSignalsAndEndsWithItsSender) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  AgentControl control(ends[0]);
  send_to_agents(ends[1], SIGUSR1);
  send_to_agents(ends[1], SIGINT);
  EXPECT_THAT(control.read(), ElementsAre(SIGUSR1, SIGINT));
  ASSERT_EQ(write(ends[1], "1", 1), 1);
  EXPECT_THAT(control.read(), IsEmpty());
  const std::string more = "5\nno\n999\n-1\n10";
  ASSERT_EQ(write(ends[1], more.data(), more.size()), static_cast<ssize_t>(more.size()));
  EXPECT_THAT(control.read(), ElementsAre(SIGTERM)) << "15 in two parts; the others are no signals";
  close(ends[1]);
  EXPECT_THAT(control.read(), ElementsAre(SIGTERM));
  EXPECT_EQ(control.fd(), -1);
  close(ends[0]);
}

}  // namespace
}  // namespace tandem::launch
