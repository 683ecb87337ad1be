// What `tandem doctor` says of more hosts than a test has machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launch/doctor/hosts/comparison.h"
#include "launch/doctor/hosts/ways.h"
#include "launch/doctor/page.h"

namespace tandem::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HostState host(const std::string& name, int number) {
  HostState made;
  made.name = name;
  made.report = Report{{ok("tandem", "there")}, {{"tandem", "0.1.0"}, {"libtorch", "2.11.0"}, {"identity", name}}};
  const std::string address = "10.0.0." + std::to_string(number);
  made.gloo = {{.interface = "eth0", .address = address}};
  made.listeners = {{"gloo", "eth0", address, 40000, ""},
                    {"other", "eth1", "10.1.0." + std::to_string(number), 40001, ""}};
  made.ports = "32768 to 60999";
  return made;
}

std::vector<HostState> several(int count) {
  std::vector<HostState> hosts;
  for (int i = 1; i <= count; ++i) hosts.push_back(host("host" + std::to_string(i), i));
  return hosts;
}

TEST(Comparison, GroupsHostsByTheirVersions) {
  std::vector<HostState> hosts = several(4);
  EXPECT_THAT(compare_versions(hosts), IsEmpty());
  hosts[2].report->facts["libtorch"] = "2.10.0";
  hosts[3].report.reset();
  const std::vector<HostFinding> found = compare_versions(hosts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].finding.topic, "LibTorch");
  EXPECT_EQ(found[0].finding.text, "not the same: 2.10.0 on host3; 2.11.0 on host1 and host2");
}

TEST(Comparison, DoesNotBlameClocksForASlowNetwork) {
  std::vector<HostState> hosts = several(3);
  for (HostState& one : hosts) one.clock_error = 0.01;
  hosts[1].clock = 1.5;
  hosts[1].clock_error = 0.8;
  EXPECT_THAT(compare_clocks(hosts), IsEmpty());
  hosts[2].clock = -1.5;
  const std::vector<HostFinding> found = compare_clocks(hosts);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].finding.text, HasSubstr("host2's is +3.00 s from host3's"));
  EXPECT_THAT(found[0].hosts, ElementsAre(2, 1));
}

TEST(Comparison, KnowsOneMachineUnderTwoNames) {
  std::vector<HostState> hosts = several(2);
  hosts[1].report->facts["identity"] = "host1";
  for (HostState& one : hosts) one.gloo.front().is_loopback = true;
  const std::vector<HostFinding> found = compare_addresses(hosts);
  ASSERT_THAT(found, SizeIs(1)) << "loopback is right within one machine";
  EXPECT_THAT(found[0].finding.text, HasSubstr("host1 and host2 are one machine"));
}

std::vector<Way> open_ways(const std::vector<HostState>& hosts) {
  std::vector<Way> ways = ways_between(hosts);
  for (Way& one : ways) one.outcome.clear();
  return ways;
}

TEST(Ways, ThoseThatNobodyTriedAreNotOpen) {
  const std::vector<HostState> hosts = several(2);
  const std::vector<HostFinding> found = judge(hosts, ways_between(hosts), {}, 3, false);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_THAT(found[0].finding.text, HasSubstr("not tried"));
}

TEST(Ways, ManyOpenOnesAreOneLine) {
  std::vector<HostState> hosts = several(5);
  hosts[4].failure = "it is gone";
  const std::vector<Way> four = open_ways(hosts);
  EXPECT_THAT(four, SizeIs(12));
  EXPECT_THAT(judge(hosts, four, {}, 3, false), SizeIs(12));
  hosts[4].failure.clear();
  std::vector<Way> five = open_ways(hosts);
  ASSERT_THAT(five, SizeIs(20));
  EXPECT_THAT(other_ways(hosts, five), IsEmpty()) << "those are for ranks that are not reached";
  five[7].outcome = "refused";
  const std::vector<Way> others = other_ways(hosts, five);
  ASSERT_THAT(others, SizeIs(1));
  const std::vector<HostFinding> found = judge(hosts, five, others, 3, false);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].finding.topic, "host2 → host5");
  EXPECT_EQ(found[1].finding.text, "19 between hosts are open");
}

TEST(Page, LinesStayLinesAndColumnsColumns) {
  EXPECT_EQ(lines_of({problem("a → b", "first\nsecond", "do this")}),
            "a → b            problem  first second: do this\n");
  EXPECT_EQ(table_of({{"host", "verdict"}, {"a", "ok"}}), "host  verdict\na     ok\n");
}

}  // namespace
}  // namespace tandem::doctor
