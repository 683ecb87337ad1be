// `tandem run --bind-to core`, and how cores are shared out.
#include "launch/core_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cpp/launch/tool.h"
#include "launch/failure.h"

namespace tandem::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

// Two packages of two cores of two threads each, numbered as Linux does: second threads last.
std::vector<Cpu> two_packages() {
  std::vector<Cpu> cpus;
  for (int cpu = 0; cpu < 8; ++cpu) cpus.push_back({cpu, cpu % 4 / 2, cpu % 2});
  return cpus;
}

TEST(ShareCpus, GivesWholeCoresThatAreNeighbours) {
  EXPECT_THAT(share_cpus(two_packages(), 1), ElementsAre(ElementsAre(0, 4, 1, 5, 2, 6, 3, 7)));
  EXPECT_THAT(share_cpus(two_packages(), 2), ElementsAre(ElementsAre(0, 4, 1, 5), ElementsAre(2, 6, 3, 7)));
  EXPECT_THAT(share_cpus(two_packages(), 3),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6, 3, 7)));
  EXPECT_THAT(share_cpus(two_packages(), 4),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
}

TEST(ShareCpus, GivesCpusWhereCoresAreTooFew) {
  const auto shares = share_cpus(two_packages(), 5);
  ASSERT_EQ(shares.size(), 5u);
  std::vector<int> all;
  for (const auto& share : shares) {
    EXPECT_THAT(share.size(), testing::AnyOf(1u, 2u));
    all.insert(all.end(), share.begin(), share.end());
  }
  EXPECT_THAT(all, UnorderedElementsAreArray({0, 1, 2, 3, 4, 5, 6, 7}));
  try {
    share_cpus(two_packages(), 9);
    ADD_FAILURE() << "nine ranks on eight CPUs";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), testing::AllOf(HasSubstr("9 ranks"), HasSubstr("8 CPUs"), HasSubstr("--bind-to")));
  }
}

// What a worker may run on, as `/proc/self/status` has it.
std::vector<int> cpus_of(const Result& result, int rank) {
  std::vector<int> cpus;
  for (const std::string& line : lines_of(result.out, "[" + std::to_string(rank) + "] Cpus_allowed_list:")) {
    const char* at = line.c_str();
    for (char* end = nullptr;; at = end + 1) {
      const auto first = static_cast<int>(std::strtol(at, &end, 10));
      const int last = *end == '-' ? static_cast<int>(std::strtol(end + 1, &end, 10)) : first;
      for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
      if (*end != ',') break;
    }
  }
  return cpus;
}

TEST(BindTo, GivesRanksCoresOfTheirOwn) {
  std::vector<int> allowed;
  for (const Cpu& cpu : allowed_cpus()) allowed.push_back(cpu.number);
  const int ranks = static_cast<int>(std::min<std::size_t>(allowed.size(), 2));
  const Result bound = run_tool(
      {"run", "-n", std::to_string(ranks), "--bind-to", "core", "grep", "Cpus_allowed_list", "/proc/self/status"});
  ASSERT_EQ(bound.code, 0) << bound.err;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> own = cpus_of(bound, rank);
    EXPECT_FALSE(own.empty());
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_THAT(all, UnorderedElementsAreArray(allowed));  // each once

  const Result free = run_tool({"run", "-n", std::to_string(ranks), "grep", "Cpus_allowed_list", "/proc/self/status"});
  for (int rank = 0; rank < ranks; ++rank) EXPECT_THAT(cpus_of(free, rank), UnorderedElementsAreArray(allowed));
}

TEST(BindTo, IsToldToWorkersAndNotInherited) {
  const auto told = [](const Result& result) { return lines_of(result.out, "[0] TANDEM_BIND_TO="); };
  EXPECT_THAT(told(run_tool({"run", "--bind-to", "core", "env"})), ElementsAre("core"));
  EXPECT_THAT(told(run_tool({"run", "env"}, {"TANDEM_BIND_TO=core"})), ElementsAre("none"));
  EXPECT_THAT(told(run_tool({"run", "--bind_to=none", "env"})), ElementsAre());
}

TEST(BindTo, RefusesWhatCannotBe) {
  const Result many = run_tool({"run", "-n", "5000", "--bind-to", "core", "true"});
  EXPECT_EQ(many.code, 1);
  EXPECT_THAT(many.err, HasSubstr("5000 ranks"));
  const Result unknown = run_tool({"run", "--bind-to", "socket", "true"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("--bind-to is socket, but has to be core or none"));
}

}  // namespace
}  // namespace tandem::launch
