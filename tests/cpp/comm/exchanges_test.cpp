// Gathers, scatters, reduce-scatters, all-to-alls, messages and byte strings between threads; messages over every backend
// for CPU tensors, the rest over Gloo.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <thread>

#include "cpp/comm/threads.h"

namespace tandem::testing::exchanges_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kTypes = {torch::kFloat,        torch::kDouble, torch::kHalf,  torch::kBFloat16, torch::kChar,
                         torch::kByte,         torch::kInt,    torch::kLong,  torch::kShort,    torch::kBool,
                         torch::kComplexFloat, torch::kUInt16, torch::kUInt32};

class Exchanges : public ::testing::TestWithParam<int> {};

// What rank `from` gives for rank `to`.
at::Tensor piece(int from, int to, at::ScalarType dtype, std::vector<std::int64_t> sizes = {2, 3}) {
  return torch::full(sizes, from * 4 + to, torch::kLong).to(dtype);
}

at::Tensor blank(at::ScalarType dtype, std::vector<std::int64_t> sizes = {2, 3}) {
  return torch::zeros(sizes, torch::kLong).to(dtype);
}

TEST_P(Exchanges, MoveEveryType) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const int rank = group.rank();
    for (const auto dtype : kTypes) {
      std::vector<at::Tensor> outputs, inputs;
      for (int i = 0; i < size; ++i) {
        outputs.push_back(blank(dtype));
        inputs.push_back(piece(rank, i, dtype));
      }
      for (int root = 0; root < size; ++root) {
        const bool is_root = rank == root;
        group.gather(is_root ? outputs : std::vector<at::Tensor>(), inputs[0], root);
        for (int i = 0; is_root && i < size; ++i) EXPECT_TRUE(outputs[i].equal(piece(i, 0, dtype))) << dtype;
        at::Tensor output = blank(dtype);
        group.scatter(output, is_root ? inputs : std::vector<at::Tensor>(), root);
        EXPECT_TRUE(output.equal(piece(root, rank, dtype))) << dtype;
      }
      group.all_to_all(outputs, inputs);
      for (int i = 0; i < size; ++i) EXPECT_TRUE(outputs[i].equal(piece(i, rank, dtype))) << dtype;
      at::Tensor joined = blank(dtype, {2 * size, 3});
      group.all_gather_into_tensor(joined, inputs[0]);
      for (int i = 0; i < size; ++i) EXPECT_TRUE(joined.narrow(0, 2 * i, 2).equal(piece(i, 0, dtype))) << dtype;
      at::Tensor exchanged = blank(dtype, {2 * size, 3});
      group.all_to_all_single(exchanged, torch::cat(inputs));
      for (int i = 0; i < size; ++i) EXPECT_TRUE(exchanged.narrow(0, 2 * i, 2).equal(piece(i, rank, dtype))) << dtype;
    }
  });
}

TEST_P(Exchanges, ReduceScatterComputesWhatReduceAndScatterWould) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const int rank = group.rank();
    // Values that are exact in every type, also as products.
    const auto given = [&](int from, int to, at::ScalarType dtype) {
      return torch::arange(1, 4, torch::kLong).add((from + to) % 2).to(dtype);
    };
    const auto check = [&](at::ScalarType dtype, ReduceOp op, const std::function<at::Tensor(at::Tensor)>& expected) {
      std::vector<at::Tensor> inputs, rows;
      for (int i = 0; i < size; ++i) {
        inputs.push_back(given(rank, i, dtype));
        rows.push_back(given(i, rank, dtype));
      }
      const at::Tensor want = expected(torch::stack(rows)).to(dtype);
      at::Tensor output = torch::zeros({3}, torch::kLong).to(dtype);
      group.reduce_scatter(output, inputs, op);
      EXPECT_TRUE(output.equal(want)) << dtype << static_cast<int>(op) << output << want;
      output.zero_();
      group.reduce_scatter_tensor(output, torch::cat(inputs), op);
      EXPECT_TRUE(output.equal(want)) << dtype << static_cast<int>(op) << output << want;
    };
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kChar, torch::kByte,
                             torch::kShort, torch::kInt, torch::kLong}) {
      check(dtype, ReduceOp::kSum, [](at::Tensor rows) { return rows.sum(0); });
      check(dtype, ReduceOp::kProduct, [](at::Tensor rows) { return rows.prod(0); });
      check(dtype, ReduceOp::kMin, [](at::Tensor rows) { return rows.amin(0); });
      check(dtype, ReduceOp::kMax, [](at::Tensor rows) { return rows.amax(0); });
    }
    check(torch::kDouble, ReduceOp::kAvg, [](at::Tensor rows) { return rows.mean(0); });
    check(torch::kInt, ReduceOp::kAvg, [&](at::Tensor rows) { return rows.sum(0).div(size, "trunc"); });
    check(torch::kComplexFloat, ReduceOp::kSum, [](at::Tensor rows) { return rows.sum(0); });
    check(torch::kBool, ReduceOp::kSum, [](at::Tensor rows) { return rows.any(0); });
    check(torch::kInt, ReduceOp::kBor, [](at::Tensor rows) {
      at::Tensor result = rows[0].clone();
      for (int i = 1; i < rows.size(0); ++i) result.bitwise_or_(rows[i]);
      return result;
    });
  });
}

TEST_P(Exchanges, UnevenPartsOfEveryKind) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const int rank = group.rank();
    // Rank r has r rows, so that rank 0 has nothing.
    std::vector<at::Tensor> outputs;
    for (int i = 0; i < size; ++i) outputs.push_back(torch::zeros({i, 2}));
    group.all_gather(outputs, torch::full({rank, 2}, rank + 1.0));
    for (int i = 0; i < size; ++i) EXPECT_TRUE(outputs[i].equal(torch::full({i, 2}, i + 1.0)));

    // From rank i to rank j go (i + j) % 3 rows.
    const auto rows = [](int from, int to) { return (from + to) % 3; };
    std::vector<std::int64_t> sent, received;
    std::vector<at::Tensor> inputs;
    outputs.clear();
    for (int i = 0; i < size; ++i) {
      sent.push_back(rows(rank, i));
      received.push_back(rows(i, rank));
      inputs.push_back(torch::full({rows(rank, i), 2}, rank * 10 + i, torch::kShort));
      outputs.push_back(torch::zeros({rows(i, rank), 2}, torch::kShort));
    }
    group.all_to_all(outputs, inputs);
    for (int i = 0; i < size; ++i) {
      EXPECT_TRUE(outputs[i].equal(torch::full({rows(i, rank), 2}, i * 10 + rank, torch::kShort)));
    }
    at::Tensor output = torch::zeros_like(torch::cat(outputs));
    group.all_to_all_single(output, torch::cat(inputs), received, sent);
    EXPECT_TRUE(output.equal(torch::cat(outputs)));

    std::vector<at::Tensor> parts;
    for (int i = 0; i < size; ++i) parts.push_back(torch::full({i + 1}, rank + 1.0));
    at::Tensor part = torch::zeros({rank + 1});
    group.reduce_scatter(part, parts);
    EXPECT_TRUE(part.equal(torch::full({rank + 1}, size * (size + 1) / 2.0)));
  });
}

TEST_P(Exchanges, CoalescedReductionsOfSeveralTypes) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const double own = group.rank() + 1;
    const double sum = size * (size + 1) / 2.0;
    std::vector<at::Tensor> tensors = {torch::full({3}, own), torch::full({2, 2}, own, torch::kDouble).t(),
                                       torch::full({4}, own), torch::zeros({0}),
                                       torch::full({2}, group.rank() == 0, torch::kBool)};
    Work work = group.all_reduce_coalesced_async(tensors);
    work.wait();
    EXPECT_EQ(work.result().size(), tensors.size());
    for (int i : {0, 1, 2}) EXPECT_TRUE(tensors[i].eq(sum).all().item<bool>()) << i;
    EXPECT_TRUE(tensors[4].all().item<bool>());
    group.all_reduce_coalesced({tensors[0], tensors[1]}, ReduceOp::kAvg);
    EXPECT_EQ(tensors[1][1][1].item<double>(), sum);
    at::Tensor scaled = torch::full({2}, own);
    group.all_reduce_premul_sum(scaled, 0.5);
    EXPECT_EQ(scaled[1].item<double>(), sum / 2);
  });
}

TEST_P(Exchanges, ByteStringsOfAnyLength) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const int rank = group.rank();
    const auto text = [](int i) { return std::string(i * 1000, static_cast<char>('a' + i)); };
    const auto all = group.all_gather_bytes(text(rank));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) EXPECT_EQ(all[i], text(i));
    for (int root = 0; root < size; ++root) {
      EXPECT_EQ(group.broadcast_bytes(rank == root ? text(root) : "", root), text(root));
      const auto gathered = group.gather_bytes(text(rank), root);
      EXPECT_EQ(gathered, rank == root ? all : std::vector<std::string>());
      EXPECT_EQ(group.scatter_bytes(rank == root ? all : std::vector<std::string>(), root), text(rank));
    }
    EXPECT_EQ(group.broadcast_bytes("", 0), "");
    EXPECT_EQ(group.all_gather_bytes(""), std::vector<std::string>(size));
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Exchanges, ::testing::Values(1, 2, 3));

class Messages : public ::testing::TestWithParam<const char*> {
 protected:
  void run(int size, const std::function<void(ProcessGroup&)>& body) { run_groups(size, body, GetParam()); }
};

TEST_P(Messages, GoBetweenTwoRanks) {
  run(2, [](ProcessGroup& group) {
    const int other = 1 - group.rank();
    at::Tensor tensor = torch::full({1000}, group.rank() + 1.0);
    if (group.rank() == 0) {
      group.send(tensor, other);
      EXPECT_EQ(group.recv(tensor), 1);
      EXPECT_EQ(tensor[999].item<double>(), 3);
    } else {
      EXPECT_EQ(group.recv(tensor, other), 0);
      EXPECT_EQ(tensor[999].item<double>(), 1);
      tensor.fill_(3);
      group.send(tensor, other);
    }
    // Tags keep apart what is received in another order than it was sent.
    at::Tensor first = torch::full({2}, 1, torch::kShort), second = torch::full({2}, 2, torch::kShort);
    if (group.rank() == 0) {
      Work a = group.isend(first, 1, 7), b = group.isend(second, 1, 8);
      a.wait();
      b.wait(std::chrono::seconds(20));
      EXPECT_TRUE(b.is_completed());
    } else {
      at::Tensor later = torch::zeros({2}, torch::kShort), earlier = torch::zeros({2}, torch::kShort);
      Work b = group.irecv(later, 0, 8), a = group.irecv(earlier, ProcessGroup::kAnyRank, 7);
      while (!b.is_completed()) std::this_thread::yield();
      a.wait(std::chrono::seconds(20));
      EXPECT_EQ(a.source_rank(), 0);
      EXPECT_TRUE(later.equal(second));
      EXPECT_TRUE(earlier.equal(first));
      EXPECT_FALSE(a.error());
      EXPECT_TRUE(a.result()[0].is_same(earlier));
    }
  });
}

TEST_P(Messages, BatchesCrossEachOther) {
  run(3, [](ProcessGroup& group) {
    const int rank = group.rank(), next = (rank + 1) % 3, previous = (rank + 2) % 3;
    at::Tensor out = torch::full({50000}, rank * 1.0), in = torch::zeros({50000});
    group.batch_isend_irecv({{Message::Kind::kSend, out, next}, {Message::Kind::kReceive, in, previous}}).wait();
    EXPECT_EQ(in[49999].item<double>(), previous);
  });
}

// What a receive from any rank takes, head and data, is one message, and the next receives get the others.
TEST_P(Messages, FromAnyRankAndFromOneGetWholeMessages) {
  run(3, [](ProcessGroup& group) {
    constexpr int kRounds = 100;
    constexpr std::int64_t kLong = 3000;  // of 4 bytes: more than goes with a head
    const auto numbered = [](int rank, int number) { return torch::full({kLong}, rank * 1000 + number, torch::kInt); };
    for (int round = 0; round < kRounds; ++round) {
      if (group.rank() != 0) {
        std::vector<Work> sent;
        for (int i = 0; i < 3; ++i) sent.push_back(group.isend(numbered(group.rank(), 3 * round + i), 0, 5));
        for (Work& work : sent) work.wait(std::chrono::seconds(20));
        group.barrier();
        continue;
      }
      // Two from any rank, and between them one from rank 1, which has as many.
      std::vector<at::Tensor> tensors;
      std::vector<Work> works;
      for (int i = 0; i < 3; ++i) {
        tensors.push_back(torch::zeros({kLong}, torch::kInt));
        works.push_back(group.irecv(tensors.back(), i % 2 == 0 ? ProcessGroup::kAnyRank : 1, 5));
      }
      std::map<int, std::vector<int>> got;
      const auto take = [&](const at::Tensor& tensor, int source) {
        const int value = tensor[0].item<int>();
        EXPECT_TRUE(tensor.eq(value).all().item<bool>()) << "parts of several messages";
        EXPECT_EQ(value / 1000, source);
        got[source].push_back(value % 1000);
      };
      for (std::size_t i = 0; i < works.size(); ++i) {
        works[i].wait(std::chrono::seconds(20));
        take(tensors[i], works[i].source_rank());
      }
      for (const int source : {1, 2}) {
        while (got[source].size() < 3) {
          at::Tensor tensor = torch::zeros({kLong}, torch::kInt);
          group.recv(tensor, source, 5);
          take(tensor, source);
        }
        std::sort(got[source].begin(), got[source].end());
        EXPECT_THAT(got[source], ::testing::ElementsAre(3 * round, 3 * round + 1, 3 * round + 2));
      }
      group.barrier();
    }
  });
}

// Short and long ones, and those between, under the highest tags.
TEST_P(Messages, OfEverySize) {
  run(2, [](ProcessGroup& group) {
    constexpr int kTag = std::numeric_limits<int>::max();
    std::vector<Work> works;
    std::vector<at::Tensor> tensors;
    for (const std::int64_t size : {1, 4095, 4096, 4097, 32768, 100001, 3000000}) {
      for (int i = 0; i < 3; ++i) {
        tensors.push_back(group.rank() == 0 ? torch::full({size}, 10 + i, torch::kByte)
                                            : torch::zeros({size}, torch::kByte));
        const int from = i == 1 ? ProcessGroup::kAnyRank : 0, tag = i == 1 ? kTag - 1 : kTag;
        works.push_back(group.rank() == 0 ? group.isend(tensors.back(), 1, tag)
                                          : group.irecv(tensors.back(), from, tag));
        if (i == 2) works.back().wait();
      }
      for (int i = 0; i < 3; ++i) {
        works[works.size() - 3 + i].wait();
        const int value = 10 + i;
        EXPECT_TRUE(tensors[tensors.size() - 3 + i].eq(value).all().item<bool>()) << size << " " << i;
      }
    }
  });
}

// What is sent waits for no other call of its receiver's.
TEST_P(Messages, ThatArePostedArriveWhileTheirReceiverSends) {
  run(2, [](ProcessGroup& group) {
    for (const int from : {1 - group.rank(), ProcessGroup::kAnyRank}) {
      at::Tensor received = torch::zeros({100000});
      Work work = group.irecv(received, from, 3);
      group.send(torch::full({100000}, group.rank() + 1.0), 1 - group.rank(), 3);
      work.wait();
      EXPECT_EQ(received[99999].item<int>(), 2 - group.rank());
    }
  });
}

TEST_P(Messages, OfAnotherSizeAreAnErrorOfBothSides) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {{6, 8},          {12, 8},         {6, 50000},
                                                                    {50000, 6},      {50000, 70000},  {70000, 50000},
                                                                    {9000000, 8000}, {8000, 9000000}, {4096, 4097}};
  for (const auto& [sent, expected] : sizes) {
    for (const bool from_any : {false, true}) {
      SCOPED_TRACE(std::to_string(sent) + " for " + std::to_string(expected) + (from_any ? " from any" : ""));
      run(2, [&, sent = sent, expected = expected](ProcessGroup& group) {
        group.barrier();
        if (group.rank() == 0) {
          const Error error = error_of([&] {
            group.send(torch::zeros({sent}, torch::kByte), 1, 4);
            group.recv(torch::zeros({1}), 1);  // the sender of a short one may be done before
          });
          EXPECT_EQ(error.code(), ErrorCode::kPeerLost) << error.what();
          EXPECT_THAT(error.what(), HasSubstr("rank 1"));
          return;
        }
        at::Tensor tensor = torch::zeros({expected}, torch::kByte);
        const Error error = error_of([&] { group.recv(tensor, from_any ? ProcessGroup::kAnyRank : 0, 4); });
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
        EXPECT_THAT(error.what(), AllOf(HasSubstr("recv of " + std::to_string(expected) + " bytes"),
                                        HasSubstr("tag 4 on group 'default' (rank 1 of 2)"),
                                        HasSubstr("rank 0 sends " + std::to_string(sent) + " bytes")));
        EXPECT_THAT(error_of([&] { group.barrier(); }).what(), HasSubstr("can no longer be used"));
      });
    }
  }
}

TEST_P(Messages, AWaitMayEndBeforeTheMessageComes) {
  run(2, [](ProcessGroup& group) {
    at::Tensor tensor = torch::full({4}, group.rank() * 1.0);
    if (group.rank() == 0) {
      Work work = group.irecv(tensor, 1);
      EXPECT_EQ(error_of([&] { work.wait(std::chrono::milliseconds(50)); }).code(), ErrorCode::kTimeout);
      group.barrier();
      work.wait(std::chrono::seconds(20));
      EXPECT_EQ(tensor[3].item<double>(), 1);
    } else {
      group.barrier();
      group.send(tensor, 0);
    }
  });
}

TEST_P(Messages, AbortWakesAReceiver) {
  run(2, [](ProcessGroup& group) {
    group.barrier();
    at::Tensor tensor = torch::zeros({4});
    if (group.rank() == 1) {
      EXPECT_EQ(error_of([&] { group.recv(tensor, 0); }).code(), ErrorCode::kPeerLost);
      return;
    }
    Work nobody_waits = group.irecv(tensor, 1, 3);
    Work asked = group.irecv(tensor, 1, 4);
    EXPECT_FALSE(asked.is_completed());
    std::thread aborter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until the call below waits
      group.abort();
    });
    const Error error = error_of([&] { group.recv(tensor, 1); });
    EXPECT_EQ(error.code(), ErrorCode::kAborted);
    EXPECT_THAT(error.what(), HasSubstr("recv #2 of float[4] on group 'default' (rank 0 of 2)"));
    aborter.join();
    EXPECT_EQ(asked.error()->code(), ErrorCode::kAborted);
    EXPECT_EQ(error_of([&] { nobody_waits.wait(); }).code(), ErrorCode::kAborted);
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, Messages, ::testing::Values("gloo", "shm"),
                         [](const auto& info) { return std::string(info.param); });

// Then the group ends on the thread that calls back.
TEST_P(Messages, ACallbackMayHoldTheLastUseOfItsGroup) {
  std::promise<void> gone;
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    auto group = ProcessGroup::create(options_for(rank, 2, GetParam()), store);
    const at::Tensor tensor = torch::ones({3});
    if (rank == 1) {
      group->barrier();
      group->send(tensor, 0);
      // Not before the other one has got it.
      EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
      return;
    }
    Work work = group->irecv(tensor, 1);
    group->barrier();
    const auto future = work.native()->getFuture();
    work = Work();
    future->addCallback([&gone, held = std::shared_ptr<ProcessGroup>(std::move(group))](c10::ivalue::Future&) mutable {
      held.reset();
      gone.set_value();
    });
  });
}

TEST(Refusals, NameWhatIsWrong) {
  run_groups(1, [](ProcessGroup& group) {
    const auto refused = [](const std::function<void()>& body, const std::string& part) {
      const Error error = error_of(body);
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(part));
    };
    const at::Tensor two = torch::zeros({2}), three = torch::zeros({3});
    refused([&] { group.gather({}, two, 0); }, "got 0 outputs");
    refused([&] { group.gather({two}, two, 1); }, "root 1");
    refused([&] { group.gather({three}, two, 0); }, "output 0");
    refused([&] { group.scatter(two, {three}, 0); }, "input 0");
    refused([&] { group.scatter(two, {two.to(torch::kDouble)}, 0); }, "double[2]");
    refused([&] { group.all_gather_into_tensor(three, two); }, "2 elements");
    refused([&] { group.reduce_scatter_tensor(two, three); }, "2 elements");
    refused([&] { group.reduce_scatter(two, {three}); }, "input 0");
    refused([&] { group.reduce_scatter(two.to(torch::kUInt16), {two.to(torch::kUInt16)}); }, "cannot be reduced");
    refused([&] { group.all_to_all({two}, {three}); }, "number of elements");
    refused([&] { group.all_to_all({two}, {}); }, "got 0 inputs");
    refused([&] { group.all_to_all_single(two, two, {1}, {2}); }, "do not divide");
    refused([&] { group.all_to_all_single(two, three); }, "as large");
    refused([&] { group.send(two, 0); }, "itself");
    refused([&] { group.send(two, 1); }, "receiver 1");
    refused([&] { group.irecv(two, 0, -1); }, "itself");
    refused([&] { group.irecv(two, ProcessGroup::kAnyRank, -1); }, "tag");
    refused([&] { group.send(torch::zeros({2, 2}).t(), 0); }, "not contiguous");
    refused([&] { group.all_reduce(torch::ones({2}, torch::kBool), ReduceOp::kAvg); }, "has no AVG");
    refused([&] { group.all_reduce_premul_sum(torch::ones({2}, torch::kInt), 2); }, "no tensor of floats");
    refused([&] { group.scatter_bytes({}, 0); }, "gave 0 byte strings");
    refused([&] { group.broadcast_bytes("x", 2); }, "root 2");
    group.barrier();  // the group still works
  });
}

TEST(Refusals, BoolsAreReducedLogically) {
  run_groups(2, [](ProcessGroup& group) {
    const auto reduced = [&](ReduceOp op) {
      at::Tensor tensor = torch::tensor({true, group.rank() == 0, false});
      group.all_reduce(tensor, op);
      EXPECT_LE(tensor.to(torch::kByte).view(torch::kByte).max().item<int>(), 1);
      return tensor;
    };
    EXPECT_TRUE(reduced(ReduceOp::kSum).equal(torch::tensor({true, true, false})));
    EXPECT_TRUE(reduced(ReduceOp::kProduct).equal(torch::tensor({true, false, false})));
    EXPECT_TRUE(reduced(ReduceOp::kBand).equal(torch::tensor({true, false, false})));
    EXPECT_TRUE(reduced(ReduceOp::kBxor).equal(torch::tensor({false, true, false})));
  });
}

TEST(MonitoredBarrier, NamesWhoHasNotCome) {
  run_groups(3, [](ProcessGroup& group) {
    group.monitored_barrier();
    if (group.rank() == 0) {
      const Error error = error_of([&] { group.monitored_barrier(std::chrono::milliseconds(200)); });
      EXPECT_EQ(error.code(), ErrorCode::kTimeout);
      EXPECT_THAT(error.what(), HasSubstr("ranks 1, 2 are missing"));
      group.barrier();
    } else {
      group.barrier();  // comes late
      const Error error = error_of([&] { group.monitored_barrier(std::chrono::seconds(20)); });
      EXPECT_THAT(error.what(), HasSubstr("ranks 1, 2 are missing"));
    }
    group.monitored_barrier();  // and on
  });
}

TEST(NoneBackend, HasEveryCollective) {
  const auto group = ProcessGroup::create(options_for(1, 2, "none"));
  at::Tensor two = torch::full({2}, 1.0), four = torch::zeros({4});
  std::vector<at::Tensor> outputs = {torch::zeros({2}), torch::zeros({2})};
  group->all_gather_into_tensor(four, two);
  EXPECT_EQ(four.sum().item<double>(), 4);
  group->gather(outputs, two, 1);
  group->scatter(two, outputs, 1);
  group->reduce_scatter(two, outputs);
  group->reduce_scatter_tensor(two, four);
  group->all_to_all(outputs, {two, two});
  group->all_to_all_single(four, torch::ones({4}));
  group->all_reduce_coalesced({two, four});
  group->send(two, 0);
  group->recv(two, 0);
  group->monitored_barrier();
  EXPECT_EQ(two.sum().item<double>(), 2);
}

}  // namespace
}  // namespace tandem::testing::exchanges_test
