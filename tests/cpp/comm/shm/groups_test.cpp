// Order, failures, leaks and training of groups of the shm backend, with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <fstream>
#include <future>
#include <map>
#include <optional>

#include "cpp/comm/leaks.h"
#include "cpp/comm/shm/native.h"
#include "tandem/ddp.h"

namespace tandem::testing::shm_groups_test {
namespace {

using shm_native::barrier;
using shm_native::run_native;
using shm_native::Tensors;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ShmOrder, ManyAsynchronousOnesOfSeveralGroupsOverlap) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    std::vector<std::shared_ptr<ProcessGroup>> groups;
    for (int i = 0; i < 3; ++i) {
      ProcessGroupOptions options = options_for(rank, 2, "shm");
      options.name = "group " + std::to_string(i);
      groups.push_back(ProcessGroup::create(options, store));
    }
    std::vector<at::Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 90; ++i) {
      tensors.push_back(torch::full({i / 3 % 7 == 0 ? 200000 : 100}, i + rank * 100.0));
      // Ranks use the groups in different orders: only within a group must it be the same.
      const int which = rank == 0 ? i % 3 : 2 - i % 3;
      works.push_back(groups[which]->all_reduce_async(tensors.back()));
    }
    for (int i = 89; i >= 0; --i) {
      works[i].wait(std::chrono::seconds(20));
      EXPECT_TRUE(works[i].is_completed());
    }
    for (int i = 0; i < 30; ++i) {
      // The i-th of the first group is 3i on rank 0, 3i + 2 on rank 1.
      const int own = rank == 0 ? 3 * i : 3 * i + 2;
      EXPECT_EQ(tensors[own][99].item<double>(), 3 * i + (3 * i + 2) + 100.0);
    }
  });
}

TEST(ShmOrder, FuturesHaveTheResultAndRunCallbacks) {
  run_native(2, [](c10d::ProcessGroup& group) {
    std::vector<std::future<double>> seen;
    for (int i = 0; i < 20; ++i) {
      Tensors tensors = {torch::full({100}, i + group.getRank() * 1.0)};
      auto work = group.allreduce(tensors);
      EXPECT_EQ(work->getSequencenumber(), static_cast<std::uint64_t>(i));
      EXPECT_EQ(work->retrieveOpType(), c10d::OpType::ALLREDUCE);
      auto promise = std::make_shared<std::promise<double>>();
      seen.push_back(promise->get_future());
      work->getFuture()->addCallback([promise](c10::ivalue::Future& future) {
        promise->set_value(future.value().toTensorVector()[0][99].item<double>());
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(seen[i].get(), 2 * i + 1);
    EXPECT_EQ(group.getBackend(c10::kCPU)->getSequenceNumberForGroup(), 20u);
    Tensors tensors = {torch::ones({1})};
    const auto late = group.allreduce(tensors);
    late->wait();
    EXPECT_EQ(late->getFuture()->value().toTensorVector()[0].item<double>(), 2) << "asked for when it was over";
    EXPECT_EQ(late->result()[0].item<double>(), 2);
  });
}

TEST(ShmErrors, CallsThatDifferAreNamedOnEveryRank) {
  const auto differ = [](const std::function<void(c10d::ProcessGroup&)>& body, const std::string& first,
                         const std::string& second) {
    run_native(2, [&](c10d::ProcessGroup& group) {
      const Error error = error_of([&] { body(group); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("different collectives"), HasSubstr(first), HasSubstr(second),
                                      HasSubstr("rank " + std::to_string(1 - group.getRank()))));
      const Error after = error_of([&] { barrier(group); });
      EXPECT_THAT(after.what(), HasSubstr("can no longer be used"));
    });
  };
  differ(
      [](c10d::ProcessGroup& group) {
        Tensors tensors = {torch::zeros({group.getRank() == 0 ? 10 : 20})};
        group.allreduce(tensors)->wait();
      },
      "all_reduce #0 of 40 bytes", "all_reduce #0 of 80 bytes");
  differ(
      [](c10d::ProcessGroup& group) {
        Tensors tensors = {torch::zeros({10}, group.getRank() == 0 ? torch::kFloat : torch::kInt)};
        group.allreduce(tensors)->wait();
      },
      "float32", "int32");
  differ(
      [](c10d::ProcessGroup& group) {
        Tensors tensors = {torch::zeros({10})};
        if (group.getRank() == 0) group.allreduce(tensors)->wait();
        if (group.getRank() == 1) barrier(group);
      },
      "all_reduce #0", "barrier #0");
  differ(
      [](c10d::ProcessGroup& group) {
        Tensors tensors = {torch::zeros({10})};
        c10d::BroadcastOptions options;
        options.rootRank = group.getRank();
        group.broadcast(tensors, options)->wait();
        barrier(group);  // a root does not wait for those who receive
      },
      "root 0", "root 1");
}

TEST(ShmErrors, ATimeoutNamesWhoIsMissingAndWhatItDoes) {
  const Store store = hash_store();
  std::promise<void> timed_out;
  const std::shared_future<void> later = timed_out.get_future().share();
  run_ranks(3, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 3, "shm");
    options.timeout = std::chrono::milliseconds(700);
    const auto group = ProcessGroup::create(options, store);
    group->barrier();
    if (rank == 0) {
      const Error error = error_of([&] { group->all_reduce(torch::zeros({10})); });
      EXPECT_EQ(error.code(), ErrorCode::kTimeout);
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("all_reduce #1 of float[10] on group 'default' (rank 0 of 3)"),
                        HasSubstr("ranks 1, 2 did not take part"), HasSubstr("rank 1 began barrier #0 last")));
      timed_out.set_value();
    } else {
      // Comes too late, and is told what happened.
      later.wait();
      const Error error = error_of([&] { group->all_reduce(torch::zeros({10})); });
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0 ended the group"), HasSubstr("timed out")));
    }
  });
}

TEST(ShmErrors, AWaitThatIsOverLeavesTheCollectiveToBeWaitedForAgain) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({10});
        if (group.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        Work work = group.all_reduce_async(tensor);
        if (group.rank() == 0) {
          const Error error = error_of([&] { work.wait(std::chrono::milliseconds(20)); });
          EXPECT_EQ(error.code(), ErrorCode::kTimeout);
          EXPECT_THAT(error.what(), HasSubstr("can be waited for again"));
        }
        work.wait();
        EXPECT_EQ(tensor[9].item<double>(), 2);
      },
      "shm");
}

TEST(ShmErrors, AbortEndsWhatRunsAndWhatIsQueuedAndTellsThePeers) {
  std::promise<void> aborted;
  run_groups(
      3,
      [&](ProcessGroup& group) {
        group.barrier();
        if (group.rank() == 2) {
          aborted.get_future().wait();
          group.abort();
          return;
        }
        at::Tensor tensor = torch::ones({1000});
        std::vector<Work> works;
        for (int i = 0; i < 3; ++i) works.push_back(group.all_reduce_async(tensor));
        if (group.rank() == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          group.abort();
          aborted.set_value();
          for (Work& work : works) EXPECT_EQ(error_of([&] { work.wait(); }).code(), ErrorCode::kAborted);
          EXPECT_EQ(error_of([&] { group.barrier(); }).code(), ErrorCode::kAborted);
        } else {
          const Error error = error_of([&] { works[0].wait(); });
          EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
          EXPECT_THAT(error.what(), HasSubstr("aborted"));
          EXPECT_EQ(error_of([&] { works[2].wait(); }).code(), ErrorCode::kPeerLost);
        }
      },
      "shm");
}

// What is in flight then is known to nobody but the thread that runs it.
TEST(ShmErrors, ABlockingCallIsEndedFromAnotherThread) {
  for (const bool by_abort : {true, false}) {
    run_groups(
        2,
        [by_abort](ProcessGroup& group) {
          group.barrier();
          if (group.rank() == 1) {
            // As long as rank 0 waits in a call that this one does not make.
            const Error error = error_of([&] { group.irecv(torch::empty({1}), 0).wait(); });
            EXPECT_EQ(error.code(), ErrorCode::kPeerLost) << error.what();
            return;
          }
          std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the call below waits
            by_abort ? group.abort() : group.close();
          });
          at::Tensor tensor = torch::ones({3});
          const Error error = error_of([&] { group.all_reduce(tensor); });
          other.join();
          EXPECT_EQ(error.code(), ErrorCode::kAborted);
          EXPECT_THAT(error.what(), AllOf(HasSubstr("all_reduce #1 of float[3] on group 'default' (rank 0 of 2)"),
                                          HasSubstr(by_abort ? "was aborted: the group was aborted"
                                                             : "was aborted: the group was closed")));
          EXPECT_EQ(error_of([&] { group.all_reduce(tensor); }).code(), ErrorCode::kAborted);
        },
        "shm");
  }
}

// A callback of one collective may run on a thread that waits at once for another; what it starts has no waiter.
TEST(ShmOrder, WhatACallbackSendsArrivesThoughNobodyWaitsForIt) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        for (int round = 0; round < 20; ++round) {
          at::Tensor reduced = torch::ones({4}), message = torch::full({2000000}, 7.0);
          std::optional<Work> sent;
          Work work = group.all_reduce_async(reduced);
          if (group.rank() == 0) {
            work.native()->getFuture()->addCallback([&](c10::ivalue::Future&) { sent = group.isend(message, 1); });
          }
          group.barrier();
          if (group.rank() == 1) {
            at::Tensor received = torch::zeros({2000000});
            group.recv(received, 0);
            EXPECT_EQ(received[1999999].item<double>(), 7);
          }
          work.wait(std::chrono::seconds(20));
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (sent && !sent->is_completed() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
          EXPECT_TRUE(!sent || sent->is_completed());
        }
      },
      "shm");
}

// Whoever finds out first tells the others, which may not have begun yet.
TEST(ShmErrors, ABlockingCallThatFailsEndsTheGroupOfAll) {
  run_groups(
      3,
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({group.rank() == 2 ? 4 : 3});
        const Error error = error_of([&] { group.all_reduce(tensor); });
        EXPECT_TRUE(error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kPeerLost);
        EXPECT_THAT(error.what(), HasSubstr("call different collectives"));
        const Error next = error_of([&] { group.barrier(); });
        EXPECT_EQ(next.code(), error.code());
        EXPECT_THAT(next.what(), AllOf(HasSubstr("was not begun"), HasSubstr("call different collectives")));
      },
      "shm");
}

TEST(ShmErrors, ARankThatLeavesInPeaceHarmsNobody) {
  run_groups(
      3,
      [](ProcessGroup& group) {
        at::Tensor tensor = torch::ones({300000});
        if (group.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(50 * group.rank()));
        group.broadcast(tensor, 0);  // the root is gone when the others read
        EXPECT_EQ(tensor[299999].item<double>(), 1);
      },
      "shm");
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("tandem-shm") != std::string::npos;
  return count;
}

TEST(ShmLeaks, GroupsThatComeAndGoLeaveNothing) {
  const Store store = hash_store();
  const auto make_groups = [&](int count) {
    run_ranks(2, [&](int rank) {
      for (int i = 0; i < count; ++i) {
        const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
        at::Tensor tensor = torch::ones({100});
        group->all_reduce_async(tensor).wait(std::chrono::seconds(10));  // on the group's thread
        EXPECT_EQ(tensor[99].item<double>(), 2);
      }
    });
  };
  make_groups(3);
  const std::ptrdiff_t descriptors_before = descriptors(), threads_before = threads();
  make_groups(200);
  expect_at_most(descriptors, descriptors_before);
  expect_at_most(threads, threads_before);
  EXPECT_EQ(mappings(), 0);
}

TEST(ShmTraining, DataParallelStepsGiveTheBitsOfGloo) {
  std::map<std::string, std::vector<at::Tensor>> trained;
  for (const std::string backend : {"gloo", "shm"}) {
    torch::manual_seed(5);
    const at::Tensor inputs = torch::randn({20, 2, 16, 30}), labels = torch::randint(10, {20, 2, 16});
    std::vector<torch::nn::Sequential> replicas;
    for (int rank = 0; rank < 2; ++rank) {
      replicas.push_back(torch::nn::Sequential(torch::nn::Linear(30, 400), torch::nn::BatchNorm1d(400),
                                               torch::nn::ReLU(), torch::nn::Linear(400, 10)));
    }
    run_groups(
        2,
        [&](ProcessGroup& group) {
          DataParallelOptions options;
          options.bucket_cap_mb = 0.01;
          options.gradient_as_bucket_view = true;
          // The group outlives the wrapper.
          const std::shared_ptr<ProcessGroup> shared(&group, [](ProcessGroup*) {});
          auto& net = replicas[group.rank()];
          DistributedDataParallel<torch::nn::Sequential> ddp(net, shared, options);
          torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
          for (int step = 0; step < 20; ++step) {
            for (auto& parameter : net->parameters()) {
              if (parameter.grad().defined()) parameter.mutable_grad().zero_();
            }
            const at::Tensor output = ddp.forward(inputs[step][group.rank()]);
            torch::nn::functional::cross_entropy(output, labels[step][group.rank()]).backward();
            optimizer.step();
          }
        },
        backend);
    trained[backend] = replicas[0]->parameters();
    const auto other = replicas[1]->parameters();
    for (std::size_t i = 0; i < other.size(); ++i) EXPECT_TRUE(other[i].equal(trained[backend][i])) << backend;
  }
  for (std::size_t i = 0; i < trained["shm"].size(); ++i) {
    EXPECT_TRUE(trained["shm"][i].equal(trained["gloo"][i])) << "parameter " << i;
  }
}

TEST(ShmBackendChoice, AutoTakesMemoryOnOneHost) {
  run_groups(
      2,
      [](ProcessGroup& group) {
        EXPECT_EQ(group.backend(), "shm");
        at::Tensor tensor = torch::ones({3});
        group.all_reduce(tensor);
        EXPECT_EQ(tensor[0].item<double>(), 2);
      },
      "auto");
}

TEST(ShmBackendChoice, RanksWithDifferentBackendsAreNamed) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const Error error =
        error_of([&] { ProcessGroup::create(options_for(rank, 2, rank == 0 ? "shm" : "gloo"), store); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 was given 'gloo', rank 0 'shm'"));
  });
}

}  // namespace
}  // namespace tandem::testing::shm_groups_test
