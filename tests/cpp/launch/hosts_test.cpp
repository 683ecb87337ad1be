// Launches over hosts that -H names: what is parsed, quoted and handed over, and launches on this machine alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cpp/launch/tool.h"
#include "launch/agent_setup.h"
#include "launch/ending_signals.h"
#include "launch/failure.h"
#include "launch/host_list.h"
#include "launch/hosts_plan.h"
#include "launch/remote_shell.h"

namespace tandem::launch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string shown(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) text += host.login + "=" + std::to_string(host.slots) + " ";
  return text;
}

std::string failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(HostList, TakesHostsWithAndWithoutSlots) {
  EXPECT_EQ(shown(parse_hosts("a:2,b.example-1.org,me@10.0.0.3:16,[fe80::1%eth0]:3,you@[::1]")),
            "a=2 b.example-1.org=0 me@10.0.0.3=16 fe80::1%eth0=3 you@::1=0 ");
  EXPECT_EQ(parse_hosts("me@[::1]:2").front().name(), "::1");
}

TEST(HostList, RefusesWhatIsNoHost) {
  for (const char* list : {"",      ",",     "a,",   "a,,b",   "-oProxyCommand=x",
                           "me@-x", "-l@a",  "a b",  "a;b",    "$(a)",
                           "a:0",   "a:-1",  "a:x",  "a:",     "a:99999999",
                           "::1",   "a:1:2", "[::1", "[::1]2", "@a",
                           "a@",    "`a`",   "a\nb", "a|b",    "a/b"}) {
    EXPECT_NE(failure_of([&] { parse_hosts(list); }), "") << list;
  }
  EXPECT_THAT(failure_of([] { parse_hosts("a:1,b,a:2"); }), HasSubstr("names a a second time"));
  EXPECT_THAT(failure_of([] { parse_hosts("a,me@a"); }), HasSubstr("names a a second time"));
  EXPECT_THAT(failure_of([] { parse_hosts("::1"); }), HasSubstr("[ADDRESS]:SLOTS"));
}

TEST(HostList, ReadsHostfilesOfHorovodAndOpenMpi) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/hosts";
  write_text(path, "# ours\n a slots=2\t# fast\n\nb:4\r\nc max_slots=9 slots=3\nd");
  EXPECT_EQ(shown(read_hostfile(path)), "a=2 b=4 c=3 d=0 ");
  const std::pair<const char*, const char*> wrong[] = {{"a\nb slots=x\n", ":2: slots is x"},
                                                       {"a cores=2\n", ":1 has 'cores=2'"},
                                                       {"a 2\n", ":1 has '2'"},
                                                       {"a\n# b\na:2\n", ":3 names a a second time"},
                                                       {"a:2 slots=2\n", ":1 says twice"},
                                                       {"# none\n", "names no host"}};
  for (const auto& [text, why] : wrong) {
    write_text(path, text);
    EXPECT_THAT(failure_of([&] { read_hostfile(path); }), HasSubstr(why)) << text;
  }
  EXPECT_THAT(failure_of([&] { read_hostfile(path + "2"); }), HasSubstr("No such file"));
  EXPECT_NE(failure_of([&] { read_hostfile(folder.path()); }), "");
}

// What shells make of the word.
std::string echoed_by(const std::string& shell, const std::string& word) {
  const std::string command = "printf %s " + quoted_for_shell(word);
  return run_tool({"run", "--no-prefix", "--", shell, "-c", command}).out;
}

TEST(RemoteShell, QuotesEveryWord) {
  for (const std::string word : {"plain", "", "a b", "it's", "'", "\\", "a\\'b", "$(touch x)", "`touch x`", "${HOME}",
                                 "!x", "~", "*", "a;b&c|d>e", "\"", "#x", "\t", "-x", "ü"}) {
    for (const char* shell : {"sh", "bash"})
      EXPECT_EQ(echoed_by(shell, word), word.empty() ? "" : word + "\n") << shell << word;
  }
  EXPECT_NE(failure_of([] { quoted_for_shell("a\nb"); }), "");
  EXPECT_NE(failure_of([] { quoted_for_shell(std::string(1, '\0')); }), "");
}

TEST(RemoteShell, SplitsWordsAtBlanks) {
  EXPECT_THAT(split_words("  ssh -p 22\t-i '/a b/key' -o\"X=\"'y z' '' ", "it"),
              ElementsAre("ssh", "-p", "22", "-i", "/a b/key", "-oX=y z", ""));
  EXPECT_THAT(split_words(" ", "it"), IsEmpty());
  EXPECT_THAT(failure_of([] { split_words("a 'b", "--ssh-args"); }),
              HasSubstr("--ssh-args is a 'b, where a quote has no end"));
}

TEST(RemoteShell, TheUsersWordsComeFirstAndTheHostAfterAllOptions) {
  setenv("TANDEM_SSH", "my-ssh -4", 1);
  const auto command = ssh_command(ssh_words("-p 2222"), "me@a", "/opt/a b/tandem");
  unsetenv("TANDEM_SSH");
  EXPECT_THAT(std::vector<std::string>(command.begin(), command.begin() + 4),
              ElementsAre("my-ssh", "-4", "-p", "2222"));
  EXPECT_THAT(command, AllOf(Contains("BatchMode=yes"), Contains(StartsWith("ConnectTimeout=")),
                             Contains(StartsWith("ServerAliveInterval="))));
  EXPECT_THAT(std::vector<std::string>(command.end() - 3, command.end()),
              ElementsAre("--", "me@a", "exec '/opt/a b/tandem' run --agent-setup"));
  EXPECT_EQ(ssh_words("").front(), "ssh");
}

class Pipes {
 public:
  Pipes() { EXPECT_EQ(pipe(ends_), 0); }
  ~Pipes() {
    close(ends_[0]);
    close_writer();
  }
  int reader() const { return ends_[0]; }
  void put(const std::string& bytes) {
    EXPECT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(AgentSetup, ArrivesWholeAndLeavesWhatFollows) {
  const AgentSetup sent{
      "a", "/x y\n'", {{"NAME", "va\nlue"}, {"EMPTY", ""}}, {"run", "--", "sh", "", "\n", std::string("\0z", 2)}};
  Pipes pipes;
  pipes.put(encode(sent) + "15\n");
  const AgentSetup got = read_agent_setup(pipes.reader());
  EXPECT_EQ(got.host, sent.host);
  EXPECT_EQ(got.folder, sent.folder);
  EXPECT_EQ(got.variables, sent.variables);
  EXPECT_EQ(got.arguments, sent.arguments);
  char rest[8] = "";
  EXPECT_EQ(read(pipes.reader(), rest, sizeof rest), 3);
  EXPECT_STREQ(rest, "15\n");
}

TEST(AgentSetup, RefusesWhatIsNone) {
  const std::string whole = encode({"a", "/", {{"N", "v"}}, {"run"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Pipes pipes;
    pipes.put(whole.substr(0, size));
    pipes.close_writer();
    EXPECT_NE(failure_of([&] { read_agent_setup(pipes.reader()); }), "") << size;
  }
  for (const char* text : {"tandem agent 2\n", "15\n", "tandem agent 1\n99999999999999999999\n", "tandem agent 1\n-1\n",
                           "tandem agent 1\n99999999\n", "tandem agent 1\n1x\n", "\n"}) {
    Pipes pipes;
    pipes.put(text);
    pipes.close_writer();
    EXPECT_THAT(failure_of([&] { read_agent_setup(pipes.reader()); }), HasSubstr("another release of Tandem")) << text;
  }
}

TEST(EndingSignals, TellASecondOneFromTheSame) {
  using Meaning = EndingSignals::Meaning;
  EndingSignals signals({SIGTERM, SIGINT});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(signals.on(SIGCHLD, start), Meaning::kNone);
  EXPECT_EQ(signals.on(SIGUSR1, start), Meaning::kPassOn);
  EXPECT_EQ(signals.first(), 0);
  EXPECT_EQ(signals.on(SIGTERM, start), Meaning::kEnds);
  EXPECT_EQ(signals.on(SIGTERM, start + std::chrono::milliseconds(100)), Meaning::kNone);
  EXPECT_EQ(signals.on(SIGINT, start + std::chrono::milliseconds(100)), Meaning::kEndsNow);
  EXPECT_EQ(signals.on(SIGTERM, start + std::chrono::seconds(1)), Meaning::kEndsNow);
  EXPECT_EQ(signals.first(), SIGTERM);
}

RunFlags flags_for(const std::string& hosts, const std::string& nnodes = "") {
  RunFlags flags;
  flags.hosts.hosts = hosts;
  flags.nnodes = nnodes;
  return flags;
}

TEST(HostsPlan, IsThereForHostsAlone) {
  EXPECT_FALSE(plan_for_hosts({}));
  RunFlags agent = flags_for("localhost,127.0.0.1");
  agent.agent = "1";
  EXPECT_FALSE(plan_for_hosts(agent));
}

TEST(HostsPlan, SaysHowAgentsMeet) {
  const auto plan = plan_for_hosts(flags_for("localhost:3,127.0.0.1"));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(is_here(plan->hosts[0]) && is_here(plan->hosts[1]));
  EXPECT_FALSE(is_here({"somebody@localhost", 1})) << "another account";
  EXPECT_FALSE(is_here({"no-such-host.invalid", 1}));
  EXPECT_THAT(plan->endpoint, testing::MatchesRegex("127\\.0\\.0\\.1:29[4-9][0-9][0-9]"));
  EXPECT_THAT(plan->run_id, Not("none"));
  EXPECT_THAT(agent_flags(*plan, plan->hosts[0], 0),
              AllOf(Contains("--nproc-per-node=3"), Contains("--nnodes=2:2"), Contains("--node-rank=0"),
                    Contains("--rdzv-conf=is_host=1"), Contains("--rdzv-endpoint=" + plan->endpoint)));
  EXPECT_THAT(agent_flags(*plan, plan->hosts[1], 1),
              AllOf(Contains("--nproc-per-node=1"), Contains("--node-rank=1"), Contains("--rdzv-conf=is_host=0")));
  RunFlags more = flags_for("localhost:3,127.0.0.1,127.0.0.2", "1:2");
  more.rdzv_endpoint = "there:7";
  more.rdzv_conf = "join_timeout=3";
  more.launch.run_id = "mine";
  more.nproc_per_node = "auto";
  more.metrics_port = "9400";
  more.launch.summary_dir = "runs";
  const auto some = plan_for_hosts(more);
  EXPECT_EQ(some->hosts.size(), 2u);
  EXPECT_THAT(agent_flags(*some, some->hosts[1], 1),
              AllOf(Contains("--nnodes=1:2"), Contains("--rdzv-endpoint=there:7"), Contains("--rdzv-id=mine"),
                    Contains("--rdzv-conf=join_timeout=3,is_host=0"), Contains("--nproc-per-node=auto")));
  // What shows the job is of one agent, which has the ranks of all.
  EXPECT_THAT(agent_flags(*some, some->hosts[0], 0), AllOf(Contains("--metrics-port=9400"), Contains("--summary-dir=runs"), Contains("--progress=0")));
  EXPECT_THAT(agent_flags(*some, some->hosts[1], 1), Not(Contains(testing::AnyOf(HasSubstr("metrics"), HasSubstr("summary"), HasSubstr("progress")))));
  for (const char* flag : {"--metrics-port", "--metrics-addr", "--summary-dir", "--progress"}) EXPECT_THAT(flags_of_hosts(), Contains(flag));
  const auto one = plan_for_hosts(flags_for("localhost:2"));
  EXPECT_THAT(agent_flags(*one, one->hosts[0], 0),
              AllOf(Contains("--standalone"), Contains("--nproc-per-node=2"), Not(Contains(HasSubstr("rdzv-end")))));
}

RunFlags flags_with_etcd(const std::string& hosts, const std::string& endpoint) {
  RunFlags flags = flags_for(hosts, "1:2");
  flags.rdzv_backend = "etcd";
  flags.rdzv_endpoint = endpoint;
  return flags;
}

TEST(HostsPlan, SaysWhereEtcdIs) {
  RunFlags flags = flags_with_etcd("localhost,elsewhere.invalid", "10.0.0.1,10.0.0.2:7");
  flags.rdzv_conf = "protocol=https,cacert=ca.pem";
  flags.metrics_port = "9400";
  flags.hosts.exports = {"ETCDCTL_USER=somebody"};
  setenv("ETCDCTL_USER", "nobody", 1);
  setenv("ETCDCTL_PASSWORD", "a secret", 1);
  const auto plan = plan_for_hosts(flags);
  unsetenv("ETCDCTL_USER");
  unsetenv("ETCDCTL_PASSWORD");
  ASSERT_TRUE(plan);
  for (int node : {0, 1}) {
    const auto words = agent_flags(*plan, plan->hosts[static_cast<std::size_t>(node)], node);
    EXPECT_THAT(words, AllOf(Contains("--rdzv-backend=etcd"), Contains("--rdzv-endpoint=10.0.0.1,10.0.0.2:7"), Contains("--nnodes=1:2"),
                             Contains("--rdzv-conf=protocol=https,cacert=ca.pem"), Contains("--rdzv-id=" + plan->run_id)));
    EXPECT_THAT(words, Contains("--metrics-port=9400")) << "whoever is elected has the ranks of all";
    EXPECT_THAT(words, Not(Contains(HasSubstr("secret"))));
  }
  EXPECT_THAT(plan->exports, testing::ElementsAre(std::pair("ETCDCTL_USER", "somebody"))) << "the password is another one's";
  flags.hosts.exports = {};
  setenv("ETCDCTL_USER", "nobody", 1);
  setenv("ETCDCTL_PASSWORD", "a secret", 1);
  const auto from_here = plan_for_hosts(flags);
  unsetenv("ETCDCTL_USER");
  unsetenv("ETCDCTL_PASSWORD");
  EXPECT_THAT(from_here->exports, ElementsAre(std::pair("TANDEM_ETCD_USER", "nobody"), std::pair("TANDEM_ETCD_PASSWORD", "a secret")));
  EXPECT_THAT(agent_flags(*from_here, from_here->hosts[1], 1), Contains("--only-job"));
  flags.launch.run_id = "nightly";
  const auto named = plan_for_hosts(flags);
  EXPECT_THAT(agent_flags(*named, named->hosts[1], 1), Not(Contains("--only-job")));
  EXPECT_TRUE(plan_for_hosts(flags_with_etcd("localhost,127.0.0.1", "localhost")));
}

TEST(HostsPlan, RefusesEtcdThatHostsDoNotReach) {
  for (const char* place : {"localhost", "127.0.0.1:2379", "10.0.0.1,[::1]:2379"}) {
    EXPECT_THAT(failure_of([&] { plan_for_hosts(flags_with_etcd("localhost,elsewhere.invalid", place)); }), HasSubstr("another machine on each host"));
  }
  EXPECT_THAT(failure_of([] { plan_for_hosts(flags_with_etcd("localhost,elsewhere.invalid", "")); }), HasSubstr("needs --rdzv-endpoint"));
  RunFlags keeps = flags_with_etcd("localhost,elsewhere.invalid", "10.0.0.1");
  keeps.rdzv_conf = "is_host=false";
  EXPECT_THAT(failure_of([&] { plan_for_hosts(keeps); }), HasSubstr("is_host"));
  RunFlags discovers = flags_with_etcd("", "10.0.0.1");
  discovers.hosts.discovery_script = "x";
  EXPECT_THAT(failure_of([&] { plan_for_hosts(discovers); }), HasSubstr("meet by c10d"));
}

TEST(HostsPlan, RefusesWhatContradictsIt) {
  EXPECT_THAT(failure_of([] { plan_for_hosts(flags_for("localhost", "2")); }), HasSubstr("-H names 1 host"));
  EXPECT_NE(failure_of([] { plan_for_hosts(flags_for("localhost,127.0.0.1", "3:2")); }), "");
  EXPECT_THAT(failure_of([] { plan_for_hosts(flags_for("no-such-host.invalid,localhost")); }),
              AllOf(StartsWith("no-such-host.invalid"), HasSubstr("--rdzv-endpoint")));
  const std::pair<const char*, void (*)(RunFlags&)> wrong[] = {
      {"--standalone", [](RunFlags& f) { f.standalone = true; }},
      {"--node-rank", [](RunFlags& f) { f.node_rank = "0"; }},
      {"--master-addr", [](RunFlags& f) { f.master_addr = "a"; }},
      {"--local-addr", [](RunFlags& f) { f.local_addr = "a"; }},
      {"--rdzv-backend static", [](RunFlags& f) { f.rdzv_backend = "static"; }},
      {"--hostfile", [](RunFlags& f) { f.hosts.hostfile = "x"; }},
      {"--host-discovery-script each name hosts", [](RunFlags& f) { f.hosts.discovery_script = "x"; }},
      {"-x (--export) has '1A'", [](RunFlags& f) { f.hosts.exports = {"1A"}; }},
      {"-x (--export) has 'A-B'", [](RunFlags& f) { f.hosts.exports = {"A-B=c"}; }},
      {"there is no such variable", [](RunFlags& f) { f.hosts.exports = {"TANDEM_NO_SUCH_VARIABLE"}; }}};
  for (const auto& [why, set] : wrong) {
    RunFlags flags = flags_for("localhost");
    set(flags);
    EXPECT_THAT(failure_of([&] { plan_for_hosts(flags); }), HasSubstr(why));
  }
  RunFlags discovers;
  discovers.hosts.discovery_script = "x";
  discovers.nnodes = "2";
  EXPECT_THAT(failure_of([&] { plan_for_hosts(discovers); }), HasSubstr("needs --nnodes MIN:MAX"));
  for (auto set : {+[](RunFlags& f) { f.hosts.exports = {"PATH"}; }, +[](RunFlags& f) { f.hosts.ssh_args = "-4"; },
                   +[](RunFlags& f) { f.hosts.remote_tool = "/x"; }}) {
    RunFlags flags;
    set(flags);
    EXPECT_THAT(failure_of([&] { plan_for_hosts(flags); }), HasSubstr("give -H or --hostfile"));
  }
}

// Launches whose hosts are this machine, and one that a stand-in for ssh "reaches".
class HostsRun : public testing::Test {
 protected:
  HostsRun() {
    write_text(ssh(), "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\necho \"$2\" >> " + folder_.path() +
                          "/logins\nexec env -i HOME=/ PATH=/usr/bin:/bin sh -c \"cd /; $3\"\n");
    chmod(ssh().c_str(), 0755);
  }
  std::string ssh() const { return folder_.path() + "/ssh"; }
  static std::vector<std::string> run_words(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return arguments;
  }
  Result run(const std::vector<std::string>& arguments) {
    return run_tool(run_words(arguments), {"TANDEM_SSH=" + ssh()});
  }

  TemporaryFolder folder_;
};

// To a name that is nobody's; the other agent's address is this machine's.
const std::vector<std::string> kBoth = {"-H", "127.0.0.1:2,elsewhere.invalid:1"};

std::vector<std::string> both(const std::vector<std::string>& more) {
  std::vector<std::string> all = kBoth;
  all.insert(all.end(), {"--rdzv-endpoint", "127.0.0.1:" + std::to_string(20000 + getpid() % 9000)});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(HostsRun, RanksLearnTheirPlacesAndGetFoldersVariablesAndArguments) {
  setenv("GREETING", "it's a \"b\" $HOME\nline", 1);
  const Result result = run(both({"-x", "GREETING", "-x", "OTHER=", "--env=OWN=1", "--role", "a b", "--", "sh", "-c",
                                  "echo $RANK of $WORLD_SIZE local $LOCAL_RANK node $GROUP_RANK \"$ROLE_NAME\" $OWN "
                                  "${OTHER-none} in $PWD; echo \"$GREETING$1\"",
                                  "-", "'$(x)'"}));
  unsetenv("GREETING");
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string here = std::filesystem::current_path();
  EXPECT_THAT(result.out, HasSubstr("[0] 0 of 3 local 0 node 0 a b 1 in " + here));
  EXPECT_THAT(result.out, HasSubstr("[1] 1 of 3 local 1 node 0 a b 1 in "));
  EXPECT_THAT(result.out, HasSubstr("[2] 2 of 3 local 0 node 1 a b 1 in " + here));
  for (const char* rank : {"[0] ", "[1] ", "[2] "}) {
    EXPECT_THAT(lines_of(result.out, rank), AllOf(Contains("it's a \"b\" $HOME"), Contains("line'$(x)'")));
  }
  EXPECT_EQ(read_text(folder_.path() + "/logins"), "elsewhere.invalid\n") << "this machine needs no ssh";
}

TEST_F(HostsRun, VariablesOfTorchrunsReachAllAgents) {
  const Result result = run_tool({"run", "-H", "a.invalid:1", "--", "sh", "-c", "echo $ROLE_NAME"},
                                 {"TANDEM_SSH=" + ssh(), "PET_ROLE=trainer", "PET_NPROC_PER_NODE=7"});
  EXPECT_EQ(result.out, "[0] trainer\n") << result.err;
}

TEST_F(HostsRun, AFailureAnywhereEndsAllWithItsCode) {
  for (const char* rank : {"0", "2"}) {
    const Result result = run(both(
        {"--", "sh", "-c", std::string("if [ $RANK = ") + rank + " ]; then echo no paper >&2; exit 7; fi; sleep 100"}));
    EXPECT_EQ(result.code, 7) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(std::string("rank ") + rank + " (pid "), EndsWith("tandem:   no paper\n")));
  }
}

TEST_F(HostsRun, OneThatCannotBeStartedIsNamedAndEndsTheOthers) {
  const std::vector<std::string> wait = {"--", "sh", "-c", "sleep 100"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), wait.begin(), wait.end());
    return run(both(more));
  };
  const Result missing = with({"--remote-tandem", "/no such/tandem"});
  EXPECT_EQ(missing.code, 127) << missing.err;
  EXPECT_THAT(missing.err,
              AllOf(HasSubstr("elsewhere.invalid cannot run /no such/tandem"), HasSubstr("--remote-tandem")));
  write_text(ssh(), "#!/bin/sh\necho Permission denied >&2\nexit 255\n");
  const Result refused = with({});
  EXPECT_EQ(refused.code, 255) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("ssh to elsewhere.invalid failed: Permission denied"));
  const Result no_ssh = run_tool({"run", "-H", "elsewhere.invalid", "true"}, {"TANDEM_SSH=/no/ssh"});
  EXPECT_EQ(no_ssh.code, 255);
  EXPECT_THAT(no_ssh.err, HasSubstr("cannot run /no/ssh"));
}

TEST_F(HostsRun, AFolderThatIsNotThereIsNamed) {
  TemporaryFolder folder;
  write_text(ssh(), "#!/bin/sh\nrmdir " + folder.path() +
                        "/work\nwhile [ \"$1\" != -- ]; do shift; done\nexec sh -c \"$3\"\n");
  mkdir((folder.path() + "/work").c_str(), 0755);
  Tool tool({"run", "-H", "elsewhere.invalid", "true"}, Tool::Screen::kPipes, {"TANDEM_SSH=" + ssh()},
            {"sh", "-c", "cd " + folder.path() + "/work; exec \"$@\"", "sh"});
  EXPECT_EQ(tool.wait(), 1);
  EXPECT_THAT(tool.err(), HasSubstr("elsewhere.invalid has no folder " + folder.path() + "/work"));
}

TEST_F(HostsRun, SignalsReachTheRanks) {
  Tool tool(run_words(both({"--", "sh", "-c", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done"})),
            Tool::Screen::kPipes, {"TANDEM_SSH=" + ssh()});
  for (const char* rank : {"[0] up", "[1] up", "[2] up"}) ASSERT_TRUE(tool.wait_for_output(rank)) << tool.err();
  tool.send(SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM) << tool.err();
  for (const char* rank : {"[0] bye", "[1] bye", "[2] bye"}) EXPECT_THAT(tool.out(), HasSubstr(rank));
}

TEST_F(HostsRun, NobodyIsLeftWhenItIsKilled) {
  for (const char* signals : {"SIGTERM", "SIGINT"}) {  // whichever of them ends a launch
    Tool tool(run_words(both({"--signals-to-handle", signals, "--", "sh", "-c", "echo pid $$ is up; exec sleep 1000"})),
              Tool::Screen::kPipes, {"TANDEM_SSH=" + ssh()});
    std::vector<pid_t> ranks;
    for (const char* rank : {"[0] pid ", "[1] pid ", "[2] pid "}) {
      ASSERT_TRUE(tool.wait_for_output(rank)) << tool.err();
      ranks.push_back(static_cast<pid_t>(std::stol(lines_of(tool.out(), rank).front())));
    }
    tool.send(SIGKILL);
    for (const pid_t rank : ranks) EXPECT_TRUE(eventually([&] { return is_gone(rank); })) << rank;
  }
}

TEST_F(HostsRun, BeginsWithTheHostsThatACommandNamesAndSaysWhyItNamesNone) {
  const std::vector<std::string> flags = {"--nnodes", "1:2", "--rdzv-conf", "last_call_timeout=20",
                                          "--host-discovery-script"};
  auto with = [&](const std::string& script) {
    std::vector<std::string> words = flags;
    words.insert(words.end(), {script, "--", "sh", "-c", "echo $RANK of $WORLD_SIZE"});
    return run(words);
  };
  const Result both_found = with("echo 127.0.0.1:2; echo localhost");
  EXPECT_EQ(both_found.code, 0) << both_found.err;
  EXPECT_THAT(both_found.out, AllOf(HasSubstr("0 of 3"), HasSubstr("1 of 3"), HasSubstr("2 of 3")));
  const Result failing = with("exit 3");
  EXPECT_EQ(failing.code, 1);
  EXPECT_THAT(failing.err, HasSubstr("--host-discovery-script exit 3: it exits with code 3"));
  EXPECT_THAT(with("echo -x").err, HasSubstr("'-x', which is no host"));
}

TEST_F(HostsRun, ASignalEndsOneThatWaitsForHosts) {
  const std::string asked = folder_.path() + "/asked";
  Tool tool({"run", "--nnodes", "1:2", "--host-discovery-script", "touch " + asked, "true"});
  ASSERT_TRUE(eventually([&] { return access(asked.c_str(), F_OK) == 0; }));
  tool.send(SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM);
}

// Of a program that knows nothing of membership; an elastic one goes on.
TEST_F(HostsRun, ALostHostEndsThoseOfTheOthers) {
  // The second agent is lost once the ranks are there.
  const std::vector<std::string> words =
      both({"--nnodes", "1:2", "--rdzv-conf", "last_call_timeout=20", "--", "sh", "-c",
            "if [ $RANK = 2 ]; then kill -9 $(cat /proc/$PPID/stat | cut -d' ' -f4); sleep 1; fi; "
            "[ $RANK = 2 ] || sleep 100"});
  const Result result = run(words);
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("elsewhere.invalid"), HasSubstr("the program's other ranks cannot go on without it")));
}

}  // namespace
}  // namespace tandem::launch
