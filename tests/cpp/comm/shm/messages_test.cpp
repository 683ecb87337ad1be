// Messages between ranks of the shm backend, with ranks as threads.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <torch/torch.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <future>
#include <map>
#include <new>
#include <thread>

#include "comm/shm/layout.h"
#include "comm/shm/mailbox.h"
#include "cpp/comm/leaks.h"
#include "cpp/comm/threads.h"

namespace {

// While it is not 0, there is no memory for just so many bytes.
std::atomic<std::size_t> refused_bytes{0};

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes != 0 && bytes == refused_bytes.load(std::memory_order_relaxed)) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

using Tensors = std::vector<at::Tensor>;
constexpr auto kAny = ProcessGroup::kAnyRank;
constexpr std::int64_t kPart = shm::kPartBytes;

void run(int size, const std::function<void(ProcessGroup&)>& body) {
  run_groups(size, body, "shm");
}

// Differs by place and by `seed`.
at::Tensor numbers(std::int64_t count, int seed, at::ScalarType dtype = torch::kByte) {
  return (torch::arange(count, torch::kLong) * 7 + seed * 31).remainder(127).to(dtype);
}

TEST(ShmMessages, EverySizeAndType) {
  run(2, [](ProcessGroup& group) {
    const std::vector<std::int64_t> sizes = {1,         7,         kPart - 1,     kPart,          kPart + 1,
                                             2 * kPart, 8 * kPart, 8 * kPart + 3, 100 * kPart + 9};
    for (const std::int64_t size : sizes) {
      at::Tensor tensor = group.rank() == 0 ? numbers(size, 1) : torch::zeros({size}, torch::kByte);
      if (group.rank() == 0) group.send(tensor, 1);
      if (group.rank() == 1) group.recv(tensor, 0);
      EXPECT_TRUE(tensor.equal(numbers(size, 1))) << size;
    }
    for (const auto dtype : {torch::kFloat, torch::kBool, torch::kHalf, torch::kLong, torch::kComplexDouble}) {
      at::Tensor tensor = torch::zeros({3, 5}, dtype);
      if (group.rank() == 0) tensor.fill_(1);
      if (group.rank() == 0) group.send(tensor, 1, 9);
      if (group.rank() == 1) group.recv(tensor, kAny, 9);
      EXPECT_TRUE(tensor.equal(torch::ones({3, 5}, dtype))) << dtype;
    }
  });
}

// LibTorch's own interface sends what has no bytes, too.
TEST(ShmMessages, NothingIsAMessage) {
  run(2, [](ProcessGroup& group) {
    Tensors tensors = {torch::zeros({0})};
    if (group.rank() == 0) {
      group.native()->send(tensors, 1, 0)->wait();
    } else {
      const auto work = group.native()->recvAnysource(tensors, 0);
      work->wait();
      EXPECT_EQ(work->sourceRank(), 0);
      EXPECT_EQ(work->retrieveOpType(), c10d::OpType::RECVANYSOURCE);
    }
  });
}

TEST(ShmMessages, ManyInTheOrderTheyWereSent) {
  run(2, [](ProcessGroup& group) {
    constexpr int kCount = 500;
    std::vector<Work> works;
    Tensors tensors;
    // Short and long ones with one tag.
    for (int i = 0; i < kCount; ++i) {
      const std::int64_t size = i % 50 == 3 ? 3 * kPart : i % 7 + 1;
      tensors.push_back(group.rank() == 0 ? numbers(size, i) : torch::zeros({size}, torch::kByte));
      works.push_back(group.rank() == 0 ? group.isend(tensors[i], 1) : group.irecv(tensors[i], 0));
    }
    for (int i = kCount - 1; i >= 0; --i) works[i].wait();
    for (int i = 0; i < kCount; ++i) EXPECT_TRUE(tensors[i].equal(numbers(tensors[i].numel(), i))) << i;
  });
}

TEST(ShmMessages, TagsAreReceivedInAnotherOrderHoweverLongTheMessages) {
  run(2, [](ProcessGroup& group) {
    for (const std::int64_t size : {std::int64_t{10}, kPart, 40 * kPart}) {
      constexpr int kTags = 5;
      Tensors tensors;
      for (int tag = 0; tag < kTags; ++tag) {
        tensors.push_back(group.rank() == 0 ? numbers(size, tag) : torch::zeros({size}, torch::kByte));
      }
      std::vector<Work> sends;
      for (int tag = 0; tag < kTags && group.rank() == 0; ++tag) sends.push_back(group.isend(tensors[tag], 1, tag));
      for (int tag = kTags - 1; tag >= 0 && group.rank() == 1; --tag) group.recv(tensors[tag], 0, tag);
      for (Work& send : sends) send.wait();
      for (int tag = 0; tag < kTags; ++tag) EXPECT_TRUE(tensors[tag].equal(numbers(size, tag))) << size << " " << tag;
    }
  });
}

TEST(ShmMessages, ManyThatNobodyReceivesYetHoldUpNoOthers) {
  run(2, [](ProcessGroup& group) {
    // More than the receiver keeps.
    constexpr int kCount = static_cast<int>(2 * shm::Mailbox::kMostUnexpected / shm::kPartBytes);
    std::vector<Work> works;
    Tensors tensors;
    for (int i = 0; i < kCount; ++i) {
      tensors.push_back(group.rank() == 0 ? numbers(kPart, i) : torch::zeros({kPart}, torch::kByte));
      if (group.rank() == 0) works.push_back(group.isend(tensors[i], 1, 1));
    }
    at::Tensor last = torch::full({4}, group.rank() == 0 ? 5 : 0);
    if (group.rank() == 0) {
      group.send(last, 1, 2);
      for (Work& work : works) work.wait();
    } else {
      group.recv(last, 0, 2);
      for (at::Tensor& tensor : tensors) group.recv(tensor, 0, 1);
    }
    EXPECT_EQ(last[3].item<int>(), 5);
    for (int i = 0; i < kCount; ++i) EXPECT_TRUE(tensors[i].equal(numbers(kPart, i))) << i;
  });
}

// An order that MPI calls safe, of more messages than a few.
TEST(ShmMessages, ManyAreReceivedInReverse) {
  run(2, [](ProcessGroup& group) {
    constexpr int kTags = 20000;
    std::vector<Work> sends;
    Tensors sent;
    for (int tag = 0; tag < kTags && group.rank() == 0; ++tag) {
      sent.push_back(torch::full({1}, tag, torch::kInt));
      sends.push_back(group.isend(sent.back(), 1, tag));
    }
    at::Tensor received = torch::zeros({1}, torch::kInt);
    for (int tag = kTags - 1; tag >= 0 && group.rank() == 1; --tag) {
      group.recv(received, 0, tag);
      ASSERT_EQ(received.item<int>(), tag);
    }
    for (Work& send : sends) send.wait();
  });
}

// Of the process: what ranks, which are threads, compute.
double cpu_seconds_of_receives(bool in_order) {
  const std::clock_t begin = std::clock();
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 2, "shm");
    options.timeout = std::chrono::seconds(300);  // with sanitizers it takes half a minute
    const auto made = ProcessGroup::create(options, store);
    ProcessGroup& group = *made;
    constexpr int kTags = 60000;
    const at::Tensor byte = torch::zeros({1}, torch::kByte);
    std::vector<Work> works;
    for (int tag = 0; tag < kTags && group.rank() == 1; ++tag) works.push_back(group.irecv(byte, 0, tag));
    group.barrier();
    for (int i = 0; i < kTags && group.rank() == 0; ++i) {
      works.push_back(group.isend(byte, 1, in_order ? i : kTags - 1 - i));
    }
    for (Work& work : works) work.wait();
  });
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(ShmMessages, FindTheirReceivesAmongMany) {
  const double in_order = cpu_seconds_of_receives(true);
  const double reversed = cpu_seconds_of_receives(false);
  std::cout << in_order << " s in order, " << reversed << " s in reverse" << std::endl;
  EXPECT_LT(reversed, 5 * in_order);  // the same; searched one by one it was far more
}

TEST(ShmMessages, AReceiveFromAnyRankTakesWhoSends) {
  run(4, [](ProcessGroup& group) {
    constexpr int kEach = 20;
    if (group.rank() != 0) {
      std::vector<Work> sends;
      for (int i = 0; i < kEach; ++i) {
        sends.push_back(group.isend(torch::full({i % 3 == 0 ? kPart : 4}, group.rank() * 100 + i), 0, i % 3));
      }
      for (Work& send : sends) send.wait();
      return;
    }
    std::map<std::pair<int, int>, int> last;
    for (int round = 0; round < kEach; ++round) {
      for (int one = 0; one < 3; ++one) {
        const int tag = round % 3;
        at::Tensor tensor = torch::full({tag == 0 ? kPart : 4}, -1);
        const int from = group.recv(tensor, kAny, tag);
        ASSERT_GE(from, 1);
        // From each in order.
        const auto seen = last.emplace(std::make_pair(from, tag), tag - 3).first;
        EXPECT_EQ(tensor[3].item<int>(), from * 100 + seen->second + 3);
        seen->second += 3;
      }
    }
  });
}

TEST(ShmMessages, CrossEachOtherWhileCollectivesRun) {
  run(3, [](ProcessGroup& group) {
    const int size = group.size();
    for (int round = 0; round < 5; ++round) {
      std::vector<Message> messages;
      Tensors received;
      for (int rank = 0; rank < size; ++rank) {
        if (rank == group.rank()) continue;
        received.push_back(torch::zeros({20 * kPart}, torch::kByte));
        messages.push_back({Message::Kind::kReceive, received.back(), rank});
        messages.push_back({Message::Kind::kSend, numbers(20 * kPart, group.rank() + round), rank});
      }
      at::Tensor sum = torch::ones({200000});
      Work reduction = group.all_reduce_async(sum);
      Work exchange = group.batch_isend_irecv(messages);
      if (round % 2 == 0) reduction.wait();
      exchange.wait();
      reduction.wait();
      EXPECT_EQ(sum[199999].item<double>(), size);
      int next = 0;
      for (int rank = 0; rank < size; ++rank) {
        if (rank == group.rank()) continue;
        EXPECT_TRUE(received[next++].equal(numbers(20 * kPart, rank + round)));
      }
    }
  });
}

TEST(ShmMessages, GetOnWhileTheirSenderDoesSomethingElse) {
  run(2, [](ProcessGroup& group) {
    at::Tensor tensor = group.rank() == 0 ? numbers(50 * kPart, 4) : torch::zeros({50 * kPart}, torch::kByte);
    Work send;
    if (group.rank() == 0) send = group.isend(tensor, 1);
    if (group.rank() == 1) group.recv(tensor, 0);
    group.barrier();  // the sender waits for this, not for the message
    if (group.rank() == 0) {
      send.wait();
      EXPECT_TRUE(send.is_completed());
    }
    EXPECT_TRUE(tensor.equal(numbers(50 * kPart, 4)));
  });
}

TEST(ShmMessages, OfSeveralThreads) {
  run(2, [](ProcessGroup& group) {
    constexpr int kThreads = 4, kRounds = 50;
    run_ranks(kThreads, [&](int thread) {
      for (int i = 0; i < kRounds; ++i) {
        const std::int64_t size = i % 10 == 0 ? 3 * kPart : 16;
        at::Tensor tensor = group.rank() == 0 ? numbers(size, thread + i) : torch::zeros({size}, torch::kByte);
        if (group.rank() == 0) group.send(tensor, 1, thread);
        if (group.rank() == 1) group.recv(tensor, 0, thread);
        ASSERT_TRUE(tensor.equal(numbers(size, thread + i)));
        // And back.
        if (group.rank() == 1) group.send(tensor, 0, thread);
        if (group.rank() == 0) group.recv(tensor, 1, thread);
      }
    });
  });
}

TEST(ShmMessages, WhoIsToldMayWaitForAnother) {
  run(2, [](ProcessGroup& group) {
    at::Tensor first = torch::full({4}, group.rank()), second = torch::full({4}, group.rank());
    if (group.rank() == 0) {
      group.send(first, 1, 1);
      group.send(second, 1, 2);
      return;
    }
    std::promise<int> told;
    Tensors one = {first};
    const auto work = group.native()->recv(one, 0, 1);
    work->getFuture()->addCallback([&](c10::ivalue::Future&) {
      group.recv(second, 0, 2);
      told.set_value(second[3].item<int>());
    });
    EXPECT_EQ(told.get_future().get(), 0);
  });
}

// Two mailboxes, of ranks 0 and 1, moved by one thread.
class Mailboxes {
 public:
  Mailboxes() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
    const auto segments = {shm::Segment::create(shm::segment_bytes(2)), shm::Segment::create(shm::segment_bytes(2))};
    for (int rank = 0; rank < 2; ++rank) {
      auto peers = std::make_shared<shm::LocalConnections>();
      peers->ranks = {"default", 2, {0, 1}, rank};
      peers->segments = segments;
      peers->sockets.resize(2);
      peers->sockets[1 - rank] = net::Descriptor(ends[rank]);
      boxes_.push_back(std::make_unique<shm::Mailbox>(peers->ranks.whereabouts(), rank, peers));
    }
  }

  // Of one byte; a receive's is written.
  void post(int rank, bool is_send, int tag) {
    shm::Message message;
    message.is_send = is_send;
    message.peer = 1 - rank;
    message.tag = tag;
    message.data = &byte_;
    message.bytes = 1;
    message.deadline = shm::Message::Clock::now() + std::chrono::hours(1);
    message.done = [](std::exception_ptr, int) {};
    boxes_[rank]->post(std::move(message));
  }
  // How many of each rank's have ended when nothing moves any more.
  std::vector<std::uint64_t> move() {
    while (boxes_[0]->move() || boxes_[1]->move()) {
    }
    for (int rank = 0; rank < 2; ++rank) ended_[rank] += boxes_[rank]->take_ended().size();
    return ended_;
  }
  // What a rank says when the time of its messages is over.
  std::string timeout(int rank) {
    boxes_[rank]->look(shm::Message::Clock::now() + std::chrono::hours(2));
    const auto failure = boxes_[rank]->take_failure();
    return failure ? failure->what() : "nothing";
  }

 private:
  std::byte byte_{};
  std::vector<std::unique_ptr<shm::Mailbox>> boxes_;
  std::vector<std::uint64_t> ended_ = {0, 0};
};

TEST(ShmMailbox, KeepsWhatNobodyReceivesYetUpToANumber) {
  using Counts = std::vector<std::uint64_t>;
  constexpr int kMost = static_cast<int>(shm::Mailbox::kMostUnmatched), kMore = 1000;
  Mailboxes boxes;
  for (int tag = 0; tag < kMost + kMore; ++tag) boxes.post(0, true, tag);
  EXPECT_EQ(boxes.move(), (Counts{kMost, 0}));
  // One whose message is kept back, and those that make room for it, in reverse.
  boxes.post(1, false, kMost);
  EXPECT_EQ(boxes.move(), (Counts{kMost, 0}));
  boxes.post(1, false, kMost - 1);
  EXPECT_EQ(boxes.move(), (Counts{kMost + 2, 2}));
  for (int tag = kMost - 2; tag >= kMore; --tag) boxes.post(1, false, tag);
  EXPECT_EQ(boxes.move(), (Counts{kMost + kMore, kMost - kMore + 1}));
}

TEST(ShmMailbox, SaysInATimeoutThatMessagesAreKeptBack) {
  constexpr int kMost = static_cast<int>(shm::Mailbox::kMostUnmatched);
  Mailboxes boxes;
  for (int tag = 0; tag <= kMost; ++tag) boxes.post(0, true, tag);
  boxes.post(1, false, kMost);
  boxes.move();
  const std::string most = std::to_string(kMost) + " messages ";
  EXPECT_THAT(boxes.timeout(0), AllOf(HasSubstr("rank 1 does not receive it"), HasSubstr(most + "that were sent")));
  EXPECT_THAT(boxes.timeout(1), AllOf(HasSubstr("rank 0 does not send it"), HasSubstr(most + "of rank 0 wait here")));
}

TEST(ShmMessageErrors, WhatDoesNotFitIsNamedOnBothSides) {
  for (const std::int64_t sent : {std::int64_t{6}, 3 * kPart}) {
    run(2, [&](ProcessGroup& group) {
      if (group.rank() == 0) {
        // The sender of a short one may be done before.
        const Error error = error_of([&] {
          group.send(torch::zeros({sent}, torch::kByte), 1, 4);
          group.barrier();
        });
        EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 ended the group"), HasSubstr("recv of 8 bytes")));
      } else {
        at::Tensor tensor = torch::zeros({2});
        const Error error = error_of([&] { group.recv(tensor, 0, 4); });
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("recv of 8 bytes from rank 0 with tag 4 on group 'default' (rank 1 of 2)"),
                          HasSubstr("rank 0 sends " + std::to_string(sent) + " bytes")));
        EXPECT_THAT(error_of([&] { group.barrier(); }).what(), HasSubstr("can no longer be used"));
      }
    });
  }
}

TEST(ShmMessageErrors, NoMemoryForAMessageIsSaidOnBothSides) {
  constexpr std::int64_t kOdd = 31111;
  run(2, [&](ProcessGroup& group) {
    const at::Tensor tensor = torch::zeros({kOdd}, torch::kByte);
    if (group.rank() == 1) refused_bytes = kOdd;
    group.barrier();
    if (group.rank() == 0) {
      const Error error = error_of([&] {
        group.send(tensor, 1, 1);
        group.barrier();
      });
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 ended the group"), HasSubstr("no memory left")));
    } else {
      const Error error = error_of([&] { group.recv(tensor, 0, 2); });
      refused_bytes = 0;
      EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("no memory left"));
      EXPECT_EQ(error_of([&] { group.barrier(); }).code(), ErrorCode::kOutOfMemory);
    }
  });
  refused_bytes = 0;
}

TEST(ShmMessageErrors, ATimeoutNamesWhoIsAwaitedAndEndsTheGroup) {
  for (const bool sends : {false, true}) {
    const Store store = hash_store();
    run_ranks(2, [&](int rank) {
      ProcessGroupOptions options = options_for(rank, 2, "shm");
      options.timeout = std::chrono::milliseconds(rank == 0 ? 700 : 20000);  // one's time is over first
      const auto group = ProcessGroup::create(options, store);
      at::Tensor tensor = torch::zeros({kPart});
      if (rank == 0) {
        Work queued = group->irecv(tensor, 1, 8);
        const auto begun = std::chrono::steady_clock::now();
        const Error error = error_of([&] {
          if (sends) group->send(tensor, 1, 3);
          if (!sends) group->recv(tensor, kAny, 3);
        });
        EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
        EXPECT_EQ(error.code(), ErrorCode::kTimeout);
        EXPECT_THAT(error.what(), ContainsRegex("on group 'default' .rank 0 of 2., begun (0\\.[7-9]|[1-4]\\.)"));
        EXPECT_EQ(error_of([&] { queued.wait(); }).code(), ErrorCode::kTimeout);
        EXPECT_EQ(error_of([&] { group->barrier(); }).code(), ErrorCode::kTimeout);
      } else {
        const Error error = error_of([&] { group->recv(tensor, 0, 5); });
        EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
        EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0 ended the group"), HasSubstr("timed out")));
      }
    });
  }
}

TEST(ShmMessageErrors, AFailedCollectiveEndsMessages) {
  const Store store = hash_store();
  run_ranks(3, [&](int rank) {
    ProcessGroupOptions options = options_for(rank, 3, "shm");
    const auto group = ProcessGroup::create(options, store);
    at::Tensor tensor = torch::zeros({4});
    Work message = group->irecv(tensor, (rank + 1) % 3);
    if (rank == 2) {
      group->abort();
      EXPECT_EQ(error_of([&] { message.wait(); }).code(), ErrorCode::kAborted);
      return;
    }
    EXPECT_EQ(error_of([&] { group->all_reduce(tensor); }).code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error_of([&] { message.wait(); }).code(), ErrorCode::kPeerLost);
    EXPECT_EQ(error_of([&] { group->send(tensor, 2); }).code(), ErrorCode::kPeerLost);
  });
}

TEST(ShmMessageErrors, AnAbortEndsALongOneHalfWay) {
  run(2, [](ProcessGroup& group) {
    at::Tensor tensor = torch::zeros({std::int64_t{64} << 20}, torch::kByte);
    if (group.rank() == 0) {
      std::thread aborter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        group.abort();
      });
      EXPECT_EQ(error_of([&] {
                  for (;;) group.send(tensor, 1);
                }).code(),
                ErrorCode::kAborted);
      aborter.join();
    } else {
      const Error error = error_of([&] {
        for (;;) group.recv(tensor, 0);
      });
      EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
      EXPECT_THAT(error.what(), HasSubstr("rank 0 ended the group: the group was aborted"));
    }
  });
}

TEST(ShmMessageErrors, WhatALeavingRankSentStillArrives) {
  run(3, [](ProcessGroup& group) {
    at::Tensor tensor = torch::full({10}, group.rank());
    if (group.rank() == 1) group.send(tensor, 0);  // and leaves
    if (group.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      group.send(tensor, 0, 1);
    }
    if (group.rank() != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(group.recv(tensor), 1);
    EXPECT_EQ(group.recv(tensor, kAny, 1), 2) << "one rank that left in peace is no reason to give up";
    const Error error = error_of([&] { group.recv(tensor, 1); });
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 closed the group"));
  });
}

TEST(ShmMessageErrors, AReceiveFromAnyEndsWhenAllHaveLeft) {
  run(3, [](ProcessGroup& group) {
    at::Tensor tensor = torch::zeros({10});
    if (group.rank() != 0) return;
    const Error error = error_of([&] { group.recv(tensor); });
    EXPECT_EQ(error.code(), ErrorCode::kPeerLost);
    EXPECT_THAT(error.what(), HasSubstr("all other ranks closed the group"));
  });
}

TEST(ShmMessageErrors, RefusesWhatIsNoMessage) {
  run(2, [](ProcessGroup& group) {
    const int self = group.rank();
    const auto refused = [&](Tensors tensors, int to, int tag, const std::string& part) {
      const Error error = error_of([&] { group.native()->send(tensors, to, tag); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(part));
    };
    refused({torch::zeros({2})}, self, 0, "is this rank itself");
    refused({torch::zeros({2})}, 2, 0, "rank 2 is no other rank of a group of 2");
    refused({torch::zeros({2})}, -1, 0, "rank -1");
    refused({torch::zeros({2})}, 1 - self, -3, "the tag is -3");
    refused({torch::zeros({2, 2}).t()}, 1 - self, 0, "not contiguous");
    group.barrier();  // the group still works
  });
}

TEST(ShmMessageLeaks, GroupsThatComeAndGoLeaveNothing) {
  const Store store = hash_store();
  const auto make_groups = [&](int count) {
    run_ranks(2, [&](int rank) {
      for (int i = 0; i < count; ++i) {
        const auto group = ProcessGroup::create(options_for(rank, 2, "shm"), store);
        at::Tensor tensor = torch::full({20 * kPart}, rank, torch::kByte);
        Work work = rank == 0 ? group->isend(tensor, 1) : group->irecv(tensor, 0);
        work.wait(std::chrono::seconds(10));  // on the group's thread
        EXPECT_EQ(tensor[20 * kPart - 1].item<int>(), 0);
        if (i % 3 == 0) {
          try {
            Work pending = group->irecv(tensor, 1 - rank);
            group->abort();
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kPeerLost);  // the other rank was quicker to abort
          }
        }
      }
    });
  };
  make_groups(3);
  const std::ptrdiff_t descriptors_before = descriptors(), threads_before = threads();
  make_groups(60);
  expect_at_most(descriptors, descriptors_before);
  expect_at_most(threads, threads_before);
}

}  // namespace
}  // namespace tandem::testing
