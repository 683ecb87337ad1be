// What tells why ranks wait for each other: checks before collectives, and the flight recorder.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "cpp/comm/threads.h"

namespace tandem::testing::diagnosis_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Detail, NamesWhatEachRankCallsOnAllRanks) {
  const Variable detail("TORCH_DISTRIBUTED_DEBUG", "DETAIL");
  run_groups(3, [](ProcessGroup& group) {
    const bool is_last = group.rank() == 2;
    const auto disagree = [&](const std::function<void()>& body, const std::string& most, const std::string& last) {
      const Error error = error_of(body);
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0, 1 calls " + most), HasSubstr("rank 2 calls " + last),
                                      HasSubstr("on group 'default'")));
    };
    at::Tensor tensor = torch::ones({is_last ? 4 : 3});
    disagree([&] { group.all_reduce(tensor); }, "#0 all_reduce SUM float[3]", "#0 all_reduce SUM float[4]");
    tensor = torch::ones({3}, is_last ? torch::kDouble : torch::kFloat);
    disagree([&] { group.broadcast(tensor, 1); }, "#1 broadcast with root 1 float[3]",
             "#1 broadcast with root 1 double[3]");
    disagree([&] { group.all_reduce(tensor, is_last ? ReduceOp::kMax : ReduceOp::kMin); }, "#2 all_reduce MIN",
             "#2 all_reduce MAX");
    const auto order = [&] {
      if (is_last) {
        group.barrier();
      } else {
        group.all_reduce(tensor);
      }
    };
    disagree(order, "#3 all_reduce", "#3 barrier");
    // What is alike goes on, and so does the group.
    tensor = torch::ones({3});
    group.all_reduce(tensor);
    EXPECT_EQ(tensor[2].item<double>(), 3);
    std::vector<at::Tensor> outputs = {torch::zeros({1}), torch::zeros({2}), torch::zeros({3})};
    group.all_gather(outputs, torch::ones({group.rank() + 1}));
    group.gather(group.rank() == 1 ? std::vector<at::Tensor>(3, torch::zeros({3})) : std::vector<at::Tensor>(), tensor,
                 1);
    group.all_gather_bytes(std::string(group.rank(), 'x'));
  });
}

TEST(Detail, NamesTheRanksThatDoNotCome) {
  const Variable detail("TORCH_DISTRIBUTED_DEBUG", "detail");
  const Store store = hash_store();
  std::promise<void> told;
  const auto first_is_told = told.get_future().share();
  run_ranks(3, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 3);
    options.timeout = std::chrono::seconds(1);
    const auto group = ProcessGroup::create(options, store);
    if (rank != 0) return first_is_told.wait();  // and stay
    at::Tensor tensor = torch::ones({2});
    const Error error = error_of([&] { group->all_reduce(tensor); });
    EXPECT_EQ(error.code(), ErrorCode::kTimeout);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("all_reduce #0 of float[2] on group 'default' (rank 0 of 3)"),
                                    HasSubstr("ranks 1, 2 are missing after 1000 ms")));
    EXPECT_EQ(error_of([&] { group->barrier(); }).code(), ErrorCode::kTimeout);
    told.set_value();
  });
}

// Without DETAIL. Gloo's ranks wait for each other until the timeout; those of shm see at once what the others call.
class Desync : public ::testing::TestWithParam<const char*> {
 protected:
  // `body` is what ranks call after a barrier. Each must get an error that says where it stood, in time.
  void expect_named(const std::function<void(ProcessGroup&)>& body, const std::vector<std::string>& calls) {
    const Store store = hash_store();
    run_ranks(3, [&](int rank) {
      ProcessGroupOptions options = options_for(rank, 3, GetParam());
      options.name = "trainers";
      options.timeout = std::chrono::seconds(1);
      const auto group = ProcessGroup::create(options, store);
      group->barrier();
      const auto begun = std::chrono::steady_clock::now();
      const Error error = error_of([&] { body(*group); });
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));  // 1 s where nothing else runs
      EXPECT_THAT(error.what(), AllOf(HasSubstr(calls[rank]), HasSubstr("group 'trainers'"),
                                      HasSubstr("(rank " + std::to_string(rank) + " of 3)"),
                                      ContainsRegex("begun [0-9]+\\.[0-9]+ s ago"), ContainsRegex("rank [0-2]")));
      // The group has ended on every rank.
      EXPECT_THAT(error_of([&] { group->barrier(); }).what(), HasSubstr("can no longer be used"));
    });
  }
};

TEST_P(Desync, OfOneRankThatCallsAnotherCollective) {
  expect_named(
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({30});
        if (group.rank() != 2) return group.all_reduce(tensor);
        group.all_gather({torch::ones({30}), torch::ones({30}), torch::ones({30})}, tensor);
      },
      {"all_reduce #1", "all_reduce #1", "all_gather #1"});
}

TEST_P(Desync, OfOneRankThatIsACollectiveAhead) {
  expect_named(
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({30});
        if (group.rank() == 2) group.reduce(tensor, 2);
        group.all_reduce(tensor);
        group.all_reduce(tensor);
      },
      {"#1", "#1", "#1"});
}

TEST_P(Desync, OfOneRankThatDoesNotCome) {
  expect_named(
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({30});
        if (group.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        group.all_reduce(tensor);
      },
      {"all_reduce #1", "all_reduce #1", "all_reduce #1"});
}

INSTANTIATE_TEST_SUITE_P(Backends, Desync, ::testing::Values("gloo", "shm"),
                         [](const auto& info) { return std::string(info.param); });

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(FlightRecorder, KeepsWhatHappenedAndIsWrittenWhenACollectiveTimesOut) {
  const std::string folder = ::testing::TempDir() + "flight-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const Variable prefix("TANDEM_FLIGHT_RECORD", folder + "/record");
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 2);
    options.name = "re\"corded";
    options.timeout = std::chrono::seconds(1);
    const auto group = ProcessGroup::create(options, store);
    group->barrier();
    at::Tensor tensor = torch::ones({2, 3}, torch::kDouble);
    group->broadcast(tensor, 1);
    if (rank == 0) {
      EXPECT_EQ(error_of([&] { group->all_reduce(tensor); }).code(), ErrorCode::kTimeout);
    } else {
      while (!std::filesystem::exists(folder + "/record.rank0.json")) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  });
  const std::string written = read(folder + "/record.rank0.json");
  EXPECT_THAT(written, HasSubstr("\"group\": \"re\\\"corded\", \"rank\": 0, \"size\": 2, \"sequence\": 1, "
                                 "\"point_to_point\": false, \"collective\": \"broadcast\", \"peer\": 1, "
                                 "\"tensor_count\": 1, \"shapes\": [[2, 3]], \"dtypes\": [\"Double\"], "
                                 "\"state\": \"completed\""));
  EXPECT_THAT(written, AllOf(HasSubstr("\"collective\": \"all_reduce\""), HasSubstr("\"state\": \"failed\""),
                             HasSubstr("timed out waiting for rank 1")));
  EXPECT_THAT(flight_record(), HasSubstr("\"sequence\": 2"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tandem::testing::diagnosis_test
