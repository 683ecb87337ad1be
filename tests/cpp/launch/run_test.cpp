// What workers get, and what the launcher's exit code is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "cpp/launch/tool.h"
#include "launch/core_binding.h"

namespace tandem::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Seconds = std::chrono::duration<double>;

std::map<std::string, std::string> variables(const Result& result, int rank) {
  std::map<std::string, std::string> found;
  for (const std::string& line : lines_of(result.out, "[" + std::to_string(rank) + "] ")) {
    found[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  return found;
}

TEST(Run, GivesEachRankTorchrunsEnvironment) {
  unsetenv("OMP_NUM_THREADS");
  const Result result = run_tool({"run", "-n", "3", "env"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (int rank = 0; rank < 3; ++rank) {
    auto got = variables(result, rank);
    const std::string own = std::to_string(rank);
    for (const char* name : {"RANK", "LOCAL_RANK", "ROLE_RANK"}) EXPECT_EQ(got[name], own) << name;
    for (const char* name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "ROLE_WORLD_SIZE"}) EXPECT_EQ(got[name], "3") << name;
    EXPECT_EQ(got["GROUP_RANK"], "0");
    EXPECT_EQ(got["GROUP_WORLD_SIZE"], "1");
    EXPECT_EQ(got["ROLE_NAME"], "default");
    EXPECT_EQ(got["MASTER_ADDR"], "127.0.0.1");
    EXPECT_GT(std::stoi(got["MASTER_PORT"]), 0);
    EXPECT_EQ(got["MASTER_PORT"], variables(result, 0)["MASTER_PORT"]);
    EXPECT_EQ(got["OMP_NUM_THREADS"], std::to_string(std::max(usable_cores() / 3, 1)));
    EXPECT_EQ(got["TORCHELASTIC_RESTART_COUNT"], "0");
    EXPECT_EQ(got["TORCHELASTIC_SIGNALS_TO_HANDLE"], "SIGTERM,SIGINT,SIGHUP,SIGQUIT");
    EXPECT_EQ(got["TORCHELASTIC_MAX_RESTARTS"], "0");
    EXPECT_EQ(got["TORCHELASTIC_USE_AGENT_STORE"], "False");
    EXPECT_FALSE(got["TORCHELASTIC_RUN_ID"].empty());
    EXPECT_THAT(got["TORCHELASTIC_ERROR_FILE"], HasSubstr("/" + own + "/error.json"));
    EXPECT_EQ(got["PATH"], getenv("PATH"));
  }
}

TEST(Run, LeavesThreadsAloneForOneProcessOrWhenSet) {
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(variables(run_tool({"run", "env"}), 0).count("OMP_NUM_THREADS"), 0u);
  EXPECT_EQ(variables(run_tool({"run", "-n", "2", "env"}, {"OMP_NUM_THREADS=5"}), 1)["OMP_NUM_THREADS"], "5");
}

TEST(Run, HasWorkersUseHugePagesUnlessMallocIsTuned) {
  unsetenv("GLIBC_TUNABLES");
  EXPECT_EQ(variables(run_tool({"run", "env"}), 0)["GLIBC_TUNABLES"], "glibc.malloc.hugetlb=1");
  const std::string own = "glibc.malloc.arena_max=1";
  EXPECT_EQ(variables(run_tool({"run", "env"}, {"GLIBC_TUNABLES=" + own}), 0)["GLIBC_TUNABLES"], own);
}

TEST(Run, CountsRanksAcrossNodes) {
  const Result result = run_tool({"run", "--nproc_per_node=2", "--nnodes", "3", "--node_rank", "2", "--master-addr",
                                  "node0", "--rdzv-id", "job7", "--role=trainer", "env"});
  ASSERT_EQ(result.code, 0) << result.err;
  auto got = variables(result, 5);
  EXPECT_EQ(got["LOCAL_RANK"], "1");
  EXPECT_EQ(got["GROUP_RANK"], "2");
  EXPECT_EQ(got["WORLD_SIZE"], "6");
  EXPECT_EQ(got["LOCAL_WORLD_SIZE"], "2");
  EXPECT_EQ(got["GROUP_WORLD_SIZE"], "3");
  EXPECT_EQ(got["MASTER_ADDR"], "node0");
  EXPECT_EQ(got["MASTER_PORT"], "29500");
  EXPECT_EQ(got["TORCHELASTIC_RUN_ID"], "job7");
  EXPECT_EQ(got["ROLE_NAME"], "trainer");
}

TEST(Run, PassesArgumentsOnUntouched) {
  const std::vector<std::string> program = {"sh",  "-c", "for a; do echo \"<$a>\"; done", "-", "-n", "5", "--",
                                            "a b", ""};
  for (bool separator : {false, true}) {
    std::vector<std::string> arguments = {"run", "-n", "1"};
    if (separator) arguments.push_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    const Result result = run_tool(arguments);
    EXPECT_THAT(lines_of(result.out, "[0] "), ElementsAre("<-n>", "<5>", "<-->", "<a b>", "<>")) << result.err;
  }
}

TEST(Run, SetsVariablesAndRunsPython) {
  TemporaryFolder folder;
  const std::string script = folder.path() + "/hello.py";
  write_text(script, "import os, sys\nprint(os.environ['GREETING'], sys.argv[1])\n");
  const Result result = run_tool({"run", "--env", "GREETING=a=b", "--env", "OTHER=", script, "you"});
  EXPECT_EQ(result.out, "[0] a=b you\n") << result.err;
  const Result module = run_tool({"run", "-m", "json.tool", "--help"});
  EXPECT_EQ(module.code, 0) << module.err;
}

TEST(Run, StopsAtTheFirstFailureWithItsCode) {
  const auto begin = std::chrono::steady_clock::now();
  const Result result = run_tool({"run", "-n", "3", "sh", "-c", "[ $RANK = 1 ] && exit 42; exec sleep 1000"});
  EXPECT_EQ(result.code, 42);
  EXPECT_THAT(result.err, HasSubstr("tandem: rank 1 (pid "));
  EXPECT_THAT(result.err, HasSubstr("exited with code 42; stopping the other ranks"));
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begin).count(), 4.0) << "the others waited for the grace to end";
}

TEST(Run, NamesTheSignalThatKilledARank) {
  const Result result = run_tool({"run", "-n", "2", "sh", "-c", "[ $RANK = 1 ] && kill -SEGV $$; exec sleep 1000"});
  EXPECT_EQ(result.code, 128 + SIGSEGV);
  EXPECT_THAT(result.err, HasSubstr("was killed by SIGSEGV (signal 11)"));
}

TEST(Run, WaitsForAllWhenNoneFails) {
  const Result result = run_tool({"run", "-n", "2", "sh", "-c", "[ $RANK = 1 ] && sleep 0.3; echo done"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(lines_of(result.out, "[1] ").size(), 1u);
  EXPECT_EQ(result.err, "");
}

TEST(Run, SaysWhatTheErrorFileSays) {
  const Result result = run_tool({"run", "sh", "-c", R"(echo '{"message": {"message": "RuntimeError: no such shard",
      "extraInfo": {"timestamp": "1700000000"}}}' > $TORCHELASTIC_ERROR_FILE; exit 1)"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("tandem: RuntimeError: no such shard\n"));
}

// Rank 1 had the error, but rank 0, which noticed that its peer was gone, ended first.
TEST(Run, TheEarliestTimestampIsTheCause) {
  const Result result = run_tool({"run", "-n", "2", "sh", "-c", R"(
      trap '[ $RANK = 1 ] && exit 7' TERM
      [ $RANK = 1 ] && { echo '{"message": {"message": "disk is full", "extraInfo": {"timestamp": "1700000000"}}}' \
                           > $TORCHELASTIC_ERROR_FILE; echo written; while :; do sleep 0.01; done; }
      until [ -s ${TORCHELASTIC_ERROR_FILE%/0/error.json}/1/error.json ]; do sleep 0.01; done
      echo '{"message": {"message": "peer lost", "extraInfo": {"timestamp": "1700000005"}}}' > $TORCHELASTIC_ERROR_FILE
      exit 3)"});
  EXPECT_EQ(result.code, 7);
  EXPECT_THAT(result.err, HasSubstr("peer lost"));
  EXPECT_THAT(result.err, HasSubstr("the first error was that of rank 1"));
  EXPECT_THAT(result.err, HasSubstr("disk is full"));
}

// What others wrote meanwhile stands above it.
TEST(Run, TheFirstErrorIsSaidLastWithTheEndOfItsOutput) {
  const Result result = run_tool({"run", "-n", "2", "sh", "-c", R"(
      trap 'echo "rank $RANK was told to stop" >&2; exit 0' TERM
      [ $RANK = 0 ] && { echo ready > ${TORCHELASTIC_ERROR_FILE%error.json}ready; while :; do sleep 0.01; done; }
      until [ -s ${TORCHELASTIC_ERROR_FILE%/1/error.json}/0/ready ]; do sleep 0.01; done
      seq 1 15 >&2; echo "no such shard" >&2; exit 3)"});
  EXPECT_EQ(result.code, 3);
  const std::size_t stopped = result.err.find("[0] rank 0 was told to stop"),
                    first = result.err.find("tandem: the first error was that of rank 1 (pid ");
  ASSERT_NE(stopped, std::string::npos) << result.err;
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_LT(stopped, first);
  EXPECT_THAT(result.err.substr(first), HasSubstr("which exited with code 3\ntandem: the last of its stderr:\n"));
  EXPECT_THAT(result.err.substr(first), testing::EndsWith("tandem:   15\ntandem:   no such shard\n"));
  EXPECT_THAT(result.err.substr(first), Not(HasSubstr("tandem:   6\n"))) << "ten lines are enough";
}

TEST(Run, AnErrorThatIsNotShownIsSaidWithItsLines) {
  TemporaryFolder folder;
  const Result result =
      run_tool({"run", "--log-dir", folder.path(), "-r", "2", "sh", "-c", "echo 'no such shard' >&2; exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("which exited with code 3\ntandem: the last of its stderr:\ntandem:   no such shard\n"));
}

TEST(Run, StartsAgainWhateverItsReaderDoes) {
  TemporaryFolder folder;
  Tool tool({"run", "--max-restarts", "1", "sh", "-c",
             "[ $TORCHELASTIC_RESTART_COUNT = 1 ] && { touch $0/again; exit 0; }; seq 1 20000; exit 9", folder.path()});
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder.path() + "/again"); })) << "nobody reads the output";
  EXPECT_EQ(tool.wait(), 0);
  EXPECT_EQ(lines_of(tool.out(), "[0] ").size(), 20000u);
}

TEST(Run, StartsAllAgainAfterAFailure) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "-n", "2", "--max-restarts", "3", "--log-dir", folder.path(), "sh", "-c", R"(
      echo "attempt $TORCHELASTIC_RESTART_COUNT of $TORCHELASTIC_MAX_RESTARTS"
      [ $RANK = 1 ] && [ $TORCHELASTIC_RESTART_COUNT -lt 2 ] && exit 9
      [ $TORCHELASTIC_RESTART_COUNT = 2 ] || exec sleep 1000)"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(lines_of(result.out, "[1] "), ElementsAre("attempt 0 of 3", "attempt 1 of 3", "attempt 2 of 3"));
  EXPECT_THAT(result.err, HasSubstr("starting all ranks again (restart 1 of 3)"));
  EXPECT_THAT(result.err, HasSubstr("starting all ranks again (restart 2 of 3)"));
  EXPECT_THAT(result.err, Not(HasSubstr("restart 3 of 3")));
  const std::filesystem::path run = *std::filesystem::directory_iterator(folder.path());
  EXPECT_EQ(read_text(run / "attempt_1/1/stdout.log"), "attempt 1 of 3\n");
  EXPECT_EQ(read_text(run / "attempt_2/1/stdout.log"), "attempt 2 of 3\n");
}

TEST(Run, HasItsExitCodeWhenNoRestartIsLeft) {
  const Result result = run_tool({"run", "--max-restarts=2", "sh", "-c", "echo x; exit $((3 + TORCHELASTIC_RESTART_COUNT))"});
  EXPECT_EQ(result.code, 5);
  EXPECT_EQ(lines_of(result.out, "[0] ").size(), 3u);
}

TEST(Run, ASignalIsNoFailureToStartAgainAfter) {
  Tool tool({"run", "--max-restarts", "5", "sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done"});
  ASSERT_TRUE(tool.wait_for_output("ready"));
  tool.send(SIGTERM);
  EXPECT_EQ(tool.wait(), 128 + SIGTERM);
  EXPECT_EQ(lines_of(tool.out(), "[0] ").size(), 1u) << tool.out();
}

TEST(Run, EndsByTheSignalsThatItIsTold) {
  Tool tool({"run", "--signals-to-handle", "SIGUSR1, SIGTERM", "sh", "-c",
             "trap 'echo got HUP' HUP; trap 'exit 0' USR1; echo $TORCHELASTIC_SIGNALS_TO_HANDLE; "
             "while :; do sleep 0.01; done"});
  ASSERT_TRUE(tool.wait_for_output("[0] SIGUSR1,SIGTERM\n"));
  tool.send(SIGHUP);
  ASSERT_TRUE(tool.wait_for_output("got HUP"));
  tool.send(SIGUSR1);
  EXPECT_EQ(tool.wait(), 128 + SIGUSR1);
}

TEST(Run, TakesTorchrunsVariables) {
  EXPECT_EQ(run_tool({"run", "true"}, {"PET_STANDALONE=1", "PET_NNODES=2"}).code, 1) << "one node, and two";
  EXPECT_THAT(run_tool({"run", "true"}, {"PET_START_METHOD=spawn"}).err, HasSubstr("PET_START_METHOD"));
  const Result result =
      run_tool({"run", "sh", "-c", "echo out; [ $RANK = 1 ] && exit 4; exec sleep 1000"},
               {"PET_NPROC_PER_NODE=2", "PET_MAX_RESTARTS=1", "PET_LOCAL_RANKS_FILTER=1", "PET_MONITOR_INTERVAL=5"});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, HasSubstr("restart 1 of 1"));
  EXPECT_TRUE(lines_of(result.out, "[0] ").empty()) << result.out;
  EXPECT_FALSE(lines_of(result.out, "[1] ").empty());
}

TEST(Run, RefusesAnErrorFileThatIsNone) {
  const Result result = run_tool({"run", "sh", "-c", "echo '[1,' > $TORCHELASTIC_ERROR_FILE; exit 9"});
  EXPECT_EQ(result.code, 9);
  EXPECT_THAT(result.err, HasSubstr("exited with code 9"));
}

TEST(Run, KeepsLogsApart) {
  TemporaryFolder folder;
  const Result result = run_tool({"run", "-n", "2", "--log-dir", folder.path() + "/logs", "--rdzv-id", "r1", "sh", "-c",
                                  "echo out $RANK; echo err $RANK >&2; dirname $TORCHELASTIC_ERROR_FILE"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = lines_of(result.out, "[1] ");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], HasSubstr(folder.path() + "/logs/r1_"));
  EXPECT_THAT(lines[1], HasSubstr("/attempt_0/1"));
  EXPECT_EQ(read_text(lines[1] + "/stdout.log"), "out 1\n" + lines[1] + "\n");
  EXPECT_EQ(read_text(lines[1] + "/stderr.log"), "err 1\n");
}

TEST(Run, LeavesNothingInTheTemporaryFolder) {
  TemporaryFolder folder;
  const Result result =
      run_tool({"run", "sh", "-c", "echo x > $TORCHELASTIC_ERROR_FILE; echo $TORCHELASTIC_ERROR_FILE"},
               {"TMPDIR=" + folder.path()});
  EXPECT_THAT(result.out, HasSubstr(folder.path()));
  EXPECT_NE(rmdir(folder.path().c_str()), -1) << "it is not empty";
  mkdir(folder.path().c_str(), 0700);
}

struct BadInput {
  std::vector<std::string> arguments;
  int code;
  std::string message;
};

TEST(Run, BadInputIsAnErrorThatNamesIt) {
  TemporaryFolder folder;
  const std::string text = folder.path() + "/text";
  const std::string garbage = folder.path() + "/garbage";
  write_text(text, "hello");
  write_text(garbage, "\x01\x02garbage");
  chmod(garbage.c_str(), 0755);
  const BadInput cases[] = {
      {{"run"}, 1, "no program to run"},
      {{"run", "-n", "2"}, 1, "no program to run"},
      {{"run", "-n", "0", "true"}, 1, "--nproc-per-node (-n) is 0"},
      {{"run", "-n", "two", "true"}, 1, "--nproc-per-node (-n) is two"},
      {{"run", "-n"}, 1, "--nproc-per-node"},
      {{"run", "--master-port", "70000", "true"}, 1, "--master-port is 70000"},
      {{"run", "--frobnicate", "true"}, 1, "unknown flag --frobnicate"},
      {{"run", "--redirects=4", "true"}, 1, "--redirects (-r) is 4"},
      {{"run", "-t", "0:1,3", "true"}, 1, "--tee (-t) is 0:1,3"},
      {{"run", "-n", "2", "-r", "2:1", "true"}, 1, "the rank in --redirects (-r) is 2"},
      {{"run", "-r", "0:1,", "true"}, 1, "--redirects (-r) is 0:1,"},
      {{"run", "--local_ranks_filter", "0,1", "true"}, 1, "--local-ranks-filter is 1"},
      {{"run", "--local-ranks-filter", "0,", "true"}, 1, "--local-ranks-filter is empty"},
      {{"run", "--max_restarts", "-1", "true"}, 1, "--max-restarts is -1"},
      {{"run", "--max-restarts", "1", "--nnodes", "2", "--master-addr", "a", "true"}, 1, "nobody would tell the other"},
      {{"run", "--monitor-interval", "soon", "true"}, 1, "--monitor-interval is soon"},
      {{"run", "--signals-to-handle", "SIGTERM,SIGSTOP", "true"}, 1, "names 'SIGSTOP'"},
      {{"run", "--signals-to-handle", "SIGTERM,,SIGINT", "true"}, 1, "names ''"},
      {{"run", "--start-method=spawn", "true"}, 1, "Python's multiprocessing"},
      {{"run", "--logs_specs", "own", "true"}, 1, "a class of Python"},
      {{"run", "--run-path", "a.py"}, 1, "torchrun's own Python"},
      {{"run", "--nnodes", "1:2", "true"}, 1, "--nnodes is 1:2"},
      {{"run", "--nnodes", "2", "true"}, 1, "--master-addr"},
      {{"run", "--nnodes", "2", "--node-rank", "2", "--master-addr", "a", "true"}, 1, "--node-rank is 2"},
      {{"run", "--rdzv-backend", "etcd", "true"}, 1, "--rdzv-backend etcd"},
      {{"run", "--env", "A", "true"}, 1, "--env is A"},
      {{"run", "--grace", "-1", "true"}, 1, "--grace"},
      {{"run", "--log-dir", "/proc/nowhere", "true"}, 1, "/proc/nowhere"},
      {{"run", "no-such-program-anywhere"}, 127, "program no-such-program-anywhere was not found in PATH"},
      {{"run", folder.path() + "/absent"}, 127, folder.path() + "/absent: No such file"},
      {{"run", folder.path() + "/absent.py"}, 127, folder.path() + "/absent.py: No such file"},
      {{"run", text}, 126, "it is not executable"},
      {{"run", folder.path()}, 126, "it is a directory"},
      {{"run", "-n", "2", garbage}, 126, garbage + ": Exec format error"},
      {{"frobnicate"}, 1, "frobnicate"},
  };
  for (const BadInput& bad : cases) {
    const Result result = run_tool(bad.arguments);
    const std::string what = testing::PrintToString(bad.arguments);
    EXPECT_EQ(result.code, bad.code) << what;
    EXPECT_THAT(result.err, HasSubstr("tandem: ")) << what;
    EXPECT_THAT(result.err, HasSubstr(bad.message)) << what;
    EXPECT_EQ(result.out, "") << what;
  }
}

TEST(Tool, SaysWhatItCanDo) {
  for (const auto& arguments : {std::vector<std::string>{}, {"--help"}}) {
    const Result result = run_tool(arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("run"));
  }
  EXPECT_THAT(run_tool({"--version"}).out, testing::StartsWith("tandem "));
  EXPECT_THAT(run_tool({"run", "--help"}).out, HasSubstr("--nproc-per-node"));
}

TEST(Tool, LinksNoLibTorch) {
  const std::string libraries = run_tool({"--version"}, {"LD_TRACE_LOADED_OBJECTS=1"}).out;
  EXPECT_THAT(libraries, HasSubstr("libc.so"));
  for (const char* name : {"libtorch", "libc10", "libtandem"}) EXPECT_THAT(libraries, Not(HasSubstr(name)));
}

double processor_seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// 8 ms by the clock on two cores. Asserted is processor time, which a busy machine changes less, and the best of five.
TEST(Tool, StartsInMilliseconds) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double begin = processor_seconds_of_children();
    ASSERT_EQ(run_tool({"run", "-n", "2", "true"}).code, 0);
    best = std::min(best, processor_seconds_of_children() - begin);
  }
  EXPECT_LT(best, 0.1);
}

// The workers' side of the port, as TCPStore does it: rank 0 listens, with SO_REUSEADDR, the others connect and retry.
constexpr const char* kMeet = R"(
import os, socket, sys, time
port = int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    time.sleep(0.1)
    with socket.create_server((os.environ["MASTER_ADDR"], port)) as server:
        connection, _ = server.accept()
        print("met", connection.recv(100).decode(), port)
else:
    while True:
        try:
            connection = socket.create_connection((os.environ["MASTER_ADDR"], port))
            break
        except ConnectionRefusedError:
            time.sleep(0.001)
    connection.sendall(sys.argv[1].encode())
)";

TEST(Port, ManyLaunchersAtOnceMeetTheirOwn) {
  TemporaryFolder folder;
  const std::string script = folder.path() + "/meet.py";
  write_text(script, kMeet);
  std::vector<std::unique_ptr<Tool>> tools;
  for (int i = 0; i < 4; ++i) {
    tools.push_back(
        std::make_unique<Tool>(std::vector<std::string>{"run", "-n", "2", script, "launch" + std::to_string(i)}));
  }
  std::set<std::string> met;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    EXPECT_EQ(tools[i]->wait(), 0) << tools[i]->err();
    const std::string expected = "[0] met launch" + std::to_string(i) + " ";
    EXPECT_THAT(tools[i]->out(), testing::StartsWith(expected));
    met.insert(tools[i]->out().substr(expected.size()));
  }
  EXPECT_EQ(met.size(), tools.size()) << "two launchers had the same port";
}

TEST(Port, InUseIsAnErrorBeforeAnythingStarts) {
  TemporaryFolder folder;
  const std::string script = folder.path() + "/listen.py";
  write_text(script,
             "import os, socket\n"
             "server = socket.create_server(('127.0.0.1', 0))\n"
             "print(server.getsockname()[1], flush=True)\n"
             "server.accept()\n");
  Tool listener({"run", "--no-prefix", script});
  ASSERT_TRUE(listener.wait_for_output("\n"));
  const std::string port = listener.out().substr(0, listener.out().find('\n'));
  const Result result = run_tool({"run", "--master-port", port, "echo", "started"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("port " + port));
  EXPECT_THAT(result.err, HasSubstr("in use"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace tandem::launch
