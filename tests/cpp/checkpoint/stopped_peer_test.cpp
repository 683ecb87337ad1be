// Saves beside training of real processes, one of which is stopped: whatever ends the wait names it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "cpp/checkpoint/contents.h"
#include "cpp/comm/child.h"
#include "cpp/comm/threads.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool begins_with(const std::string& how, const char* what) {
  return how.rfind(what, 0) == 0;
}

// How many threads of this process say that it runs.
int pulses() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(thread.path() / "comm") >> name;
    count += name == "tdm-pulse";
  }
  return count;
}

// A program that leaves its folder behind.
int leave(const std::string& folder) {
  ProcessGroupOptions options = options_for(0, 1, "shm");
  options.init_method = "file://" + folder + "/store";
  const auto group = ProcessGroup::create(options);
  static auto* const left = new CheckpointFolder(folder + "/run", {.group = group});
  left->save_async(1, content_of(1));
  left->wait();
  const int before = pulses();
  shutdown(std::chrono::seconds(60));
  std::cout << before << " " << pulses() << std::endl;
  return 0;
}

// One rank of three, of which rank 2 is stopped, rank 0 ends its save, and rank 1 is told. "first": of a folder whose
// ranks have still to meet for it. They meet at a server of the test's own: a rank that is stopped while it holds the lock
// of a store's file holds all others up.
int run_rank(const std::string& how, int rank, const std::string& folder, int port) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ProcessGroupOptions options = options_for(rank, 3, "shm");
  options.timeout = std::chrono::minutes(10);
  const auto group = ProcessGroup::create(options, tcp_store("127.0.0.1", static_cast<std::uint16_t>(port)));
  auto checkpoints = std::make_unique<CheckpointFolder>(folder + "/run", CheckpointOptions{.group = group});
  if (!begins_with(how, "first")) {
    checkpoints->save_async(1, content_of(1));
    checkpoints->wait();
  }
  group->barrier();
  std::cout << "ready" << std::endl;
  int number = 0;
  sigwait(&signals, &number);  // rank 2 is stopped instead
  const bool ends_by_itself = how == "closing" || how == "destruction";
  std::thread ends([&] {
    if (rank != 0 || ends_by_itself) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until the save waits
    if (how.find("close") != std::string::npos) {
      group->close();
    } else if (how.find("folder") != std::string::npos) {
      checkpoints->abort();
    } else {
      group->abort();
    }
  });
  const Error error = error_of([&] {
    checkpoints->save_async(2, content_of(2));
    if (rank == 0 && how == "closing") checkpoints->close();
    if (rank == 0 && how == "destruction") {
      checkpoints.reset();
      throw Error(ErrorCode::kAborted, "step-000000002 (rank 2 is missing) is no more");
    }
    checkpoints->wait();
  });
  ends.join();
  std::cout << static_cast<int>(error.code()) << " " << error.what() << std::endl;
  return 0;
}

class StoppedPeer : public ::testing::TestWithParam<std::string> {};

TEST_P(StoppedPeer, IsNamedByWhateverEndsTheWait) {
  const TemporaryFolder folder;
  const Store server = tcp_store("127.0.0.1", 0, {.is_server = true});
  std::vector<std::unique_ptr<Child>> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.push_back(std::make_unique<Child>(
        std::vector<std::string>{"--rank", GetParam(), std::to_string(rank), folder.path.string(),
                                 std::to_string(store_port(server))},
        std::map<std::string, std::string>{}));
  }
  for (const auto& rank : ranks) EXPECT_EQ(rank->line(), "ready");
  ranks[2]->stop();
  for (const int rank : {0, 1}) ranks[rank]->signal(SIGUSR1);
  for (const int rank : {0, 1}) {
    const std::string said = ranks[rank]->line();
    const auto code = static_cast<ErrorCode>(std::atoi(said.c_str()));
    EXPECT_EQ(code, rank == 0 ? ErrorCode::kAborted : ErrorCode::kPeerLost) << said;
    EXPECT_THAT(said, AllOf(HasSubstr("step-000000002"), HasSubstr("rank 2 is missing"))) << rank;
    EXPECT_EQ(ranks[rank]->wait(), 0);
  }
  if (!begins_with(GetParam(), "first")) {
    EXPECT_EQ(CheckpointFolder(folder / "run").load()->step, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, StoppedPeer,
                         ::testing::Values("folder", "group", "group closed", "closing", "destruction", "first folder",
                                           "first group", "first group closed"));

TEST(SignsOfLife, EndWithTheProgram) {
  const TemporaryFolder folder;
  Child child({"--leave", folder.path.string()}, {});
  EXPECT_EQ(child.line(), "1 0");
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--leave") return tandem::testing::leave(argv[2]);
  if (argc == 6 && std::string(argv[1]) == "--rank") {
    return tandem::testing::run_rank(argv[2], std::stoi(argv[3]), argv[4], std::stoi(argv[5]));
  }
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
