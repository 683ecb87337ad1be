// What each collective of the shm backend computes, with ranks as threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <mutex>

#include "cpp/comm/shm/native.h"

namespace tandem::testing::shm_test {
namespace {

using shm_native::barrier;
using shm_native::run_native;
using shm_native::Tensors;
using ::testing::AllOf;
using ::testing::HasSubstr;

// LibTorch's function for it has another name in each release.
c10d::ReduceOp premul_sum(double factor) {
  c10d::ReduceOp op;
  op.op_ = c10d::ReduceOp::PREMUL_SUM;
  op.supplement_ = c10::make_intrusive<c10d::NCCLPreMulSumSupplement>(factor);
  return op;
}

// Numbers that differ by rank and place, small enough that sums of them are exact in float16.
at::Tensor numbers(at::ScalarType dtype, std::int64_t count, int rank) {
  const at::Tensor whole = (torch::arange(count, torch::kLong) * 7 + rank * 5).remainder(11) + 1;
  if (dtype == torch::kBool) return whole.remainder(2).to(torch::kBool);
  return whole.to(dtype);
}

// What a reduction of all ranks' numbers is, by LibTorch's operators in a wider type.
at::Tensor reduced(c10d::ReduceOp::RedOpType op, at::ScalarType dtype, std::int64_t count, int size) {
  const bool is_float = at::isFloatingType(dtype);
  const auto wide = is_float ? torch::kDouble : torch::kLong;
  at::Tensor result = numbers(dtype, count, 0).to(wide);
  for (int rank = 1; rank < size; ++rank) {
    const at::Tensor next = numbers(dtype, count, rank).to(wide);
    switch (op) {
      case c10d::ReduceOp::SUM:
      case c10d::ReduceOp::AVG:
        result = result + next;
        break;
      case c10d::ReduceOp::PRODUCT:
        result = result * next;
        break;
      case c10d::ReduceOp::MIN:
        result = torch::minimum(result, next);
        break;
      case c10d::ReduceOp::MAX:
        result = torch::maximum(result, next);
        break;
      case c10d::ReduceOp::BAND:
        result = result.bitwise_and(next);
        break;
      case c10d::ReduceOp::BOR:
        result = result.bitwise_or(next);
        break;
      default:
        result = result.bitwise_xor(next);
    }
  }
  if (op == c10d::ReduceOp::AVG) result = is_float ? result / size : result.div(size, "trunc");
  return result.to(dtype);
}

const std::vector<at::ScalarType> kDtypes = {torch::kFloat, torch::kDouble, torch::kHalf,  torch::kBFloat16,
                                             torch::kChar,  torch::kByte,   torch::kShort, torch::kInt,
                                             torch::kLong,  torch::kBool};
const std::vector<c10d::ReduceOp::RedOpType> kOps = {c10d::ReduceOp::SUM, c10d::ReduceOp::AVG, c10d::ReduceOp::PRODUCT,
                                                     c10d::ReduceOp::MIN, c10d::ReduceOp::MAX, c10d::ReduceOp::BAND,
                                                     c10d::ReduceOp::BOR, c10d::ReduceOp::BXOR};

bool exists(c10d::ReduceOp::RedOpType op, at::ScalarType dtype) {
  if (at::isFloatingType(dtype)) return op < c10d::ReduceOp::BAND;
  return dtype != torch::kBool || op != c10d::ReduceOp::AVG;
}

// The last is several slots' worth of the smallest dtype.
const std::vector<std::int64_t> kCounts = {0, 1, 5, 4096, 70001, 1100003};

void expect_same(const at::Tensor& result, const at::Tensor& expected, const std::string& what) {
  if (at::isFloatingType(result.scalar_type())) {
    // Products and averages of halves are rounded on the way.
    EXPECT_TRUE(torch::allclose(result.to(torch::kDouble), expected.to(torch::kDouble), 0.02)) << what;
  } else {
    EXPECT_TRUE(result.equal(expected)) << what;
  }
}

class ShmCollectives : public ::testing::TestWithParam<int> {};

TEST_P(ShmCollectives, AllReduceAndReduceComputeEveryOperationOnEveryType) {
  const int size = GetParam();
  run_native(size, [&](c10d::ProcessGroup& group) {
    for (const auto dtype : kDtypes) {
      for (const auto op : kOps) {
        if (!exists(op, dtype)) continue;
        const std::int64_t count = dtype == torch::kFloat ? 40001 : 3001;
        const std::string what = c10::str(dtype, " op ", static_cast<int>(op), " rank ", group.getRank());
        const at::Tensor expected = reduced(op, dtype, count, size);
        Tensors tensors = {numbers(dtype, count, group.getRank())};
        c10d::AllreduceOptions options;
        options.reduceOp = op;
        group.allreduce(tensors, options)->wait();
        expect_same(tensors[0], expected, what);

        Tensors inputs = {numbers(dtype, count, group.getRank())};
        c10d::ReduceOptions to_root;
        to_root.reduceOp = op;
        to_root.rootRank = size - 1;
        group.reduce(inputs, to_root)->wait();
        const bool is_root = group.getRank() == to_root.rootRank;
        expect_same(inputs[0], is_root ? expected : numbers(dtype, count, group.getRank()), what);
      }
    }
  });
}

TEST_P(ShmCollectives, EverySize) {
  const int size = GetParam();
  run_native(size, [&](c10d::ProcessGroup& group) {
    const int self = group.getRank();
    for (const std::int64_t count : kCounts) {
      const std::string what = c10::str(count, " elements, rank ", self);
      const auto of = [&](int rank) { return numbers(torch::kFloat, count, rank); };
      Tensors tensors = {of(self)};
      group.allreduce(tensors)->wait();
      EXPECT_TRUE(tensors[0].equal(reduced(c10d::ReduceOp::SUM, torch::kFloat, count, size))) << what;

      c10d::BroadcastOptions from_last;
      from_last.rootRank = size - 1;
      tensors = {of(self)};
      group.broadcast(tensors, from_last)->wait();
      EXPECT_TRUE(tensors[0].equal(of(size - 1))) << what;

      std::vector<Tensors> lists(1);
      for (int rank = 0; rank < size; ++rank) lists[0].push_back(torch::zeros({count}));
      tensors = {of(self)};
      group.allgather(lists, tensors)->wait();
      for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(lists[0][rank].equal(of(rank))) << what;

      for (int root = 0; root < size; root += 2) {
        c10d::GatherOptions to;
        to.rootRank = root;
        lists.clear();
        if (self == root) lists.emplace_back();
        for (int rank = 0; rank < size && self == root; ++rank) lists[0].push_back(torch::zeros({count}));
        tensors = {of(self)};
        group.gather(lists, tensors, to)->wait();
        for (int rank = 0; rank < size && self == root; ++rank) EXPECT_TRUE(lists[0][rank].equal(of(rank))) << what;

        c10d::ScatterOptions from;
        from.rootRank = root;
        tensors = {torch::zeros({count})};
        group.scatter(tensors, lists, from)->wait();
        EXPECT_TRUE(tensors[0].equal(of(self))) << what;
      }

      lists.assign(1, {});
      for (int rank = 0; rank < size; ++rank) lists[0].push_back(of(self + rank));
      tensors = {torch::zeros({count})};
      group.reduce_scatter(tensors, lists)->wait();
      at::Tensor expected = of(self);
      for (int rank = 1; rank < size; ++rank) expected += of(rank + self);
      EXPECT_TRUE(tensors[0].equal(expected)) << what;

      Tensors outputs;
      for (int rank = 0; rank < size; ++rank) outputs.push_back(torch::zeros({count}));
      group.alltoall(outputs, lists[0])->wait();
      for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(outputs[rank].equal(of(rank + self))) << what;

      at::Tensor whole = torch::zeros({size * count}), own = of(self);
      group._allgather_base(whole, own)->wait();
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_TRUE(whole.narrow(0, rank * count, count).equal(of(rank))) << what;
      }
      at::Tensor part = torch::zeros({count});
      group._reduce_scatter_base(part, whole)->wait();
      EXPECT_TRUE(part.equal(of(self) * size)) << what;
      at::Tensor turned = torch::zeros({size * count});
      std::vector<std::int64_t> even;
      group.alltoall_base(turned, whole, even, even)->wait();
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_TRUE(turned.narrow(0, rank * count, count).equal(of(self))) << what;
      }
      barrier(group);
    }
  });
}

TEST_P(ShmCollectives, UnevenLists) {
  const int size = GetParam();
  run_native(size, [&](c10d::ProcessGroup& group) {
    const int self = group.getRank();
    for (const std::int64_t base : {0, 3, 90000}) {
      // Rank r gives base + r elements; the first of them none where base is 0.
      std::vector<Tensors> lists(1);
      for (int rank = 0; rank < size; ++rank) lists[0].push_back(torch::zeros({base + rank}));
      Tensors tensors = {numbers(torch::kFloat, base + self, self)};
      group.allgather(lists, tensors)->wait();
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_TRUE(lists[0][rank].equal(numbers(torch::kFloat, base + rank, rank)));
      }
      tensors = {torch::zeros({base + self})};
      group.reduce_scatter(tensors, lists)->wait();
      EXPECT_TRUE(tensors[0].equal(numbers(torch::kFloat, base + self, self) * size));

      // Rank r sends base + r + k rows to rank k.
      std::vector<std::int64_t> sends, receives;
      Tensors rows;
      for (int rank = 0; rank < size; ++rank) {
        sends.push_back(base + self + rank);
        receives.push_back(base + rank + self);
        rows.push_back(torch::full({base + self + rank, 2}, 10.0 * self + rank));
      }
      at::Tensor input = torch::cat(rows);
      at::Tensor output = torch::zeros({base * size + size * self + size * (size - 1) / 2, 2});
      group.alltoall_base(output, input, receives, sends)->wait();
      std::int64_t begin = 0;
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_TRUE(output.narrow(0, begin, receives[rank]).eq(10.0 * rank + self).all().item<bool>());
        begin += receives[rank];
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, ShmCollectives, ::testing::Values(1, 2, 3, 5));

TEST(ShmValues, TheSameBitsOnEveryRankAndInEveryRunWhateverTheSize) {
  // Sums whose result depends on their order; a prefix of a long row must give the same as a short row alone, though
  // short ones are combined by every rank and long ones in parts.
  std::vector<std::vector<at::Tensor>> results(3);
  for (int run = 0; run < 2; ++run) {
    run_native(3, [&](c10d::ProcessGroup& group) {
      const at::Tensor all = torch::linspace(1, 2, 300000).mul(group.getRank() * 1.7 + 0.3).sin().mul(1e3).exp2();
      for (const std::int64_t count : {100, 4000, 300000}) {
        Tensors tensors = {all.narrow(0, 0, count).clone()};
        group.allreduce(tensors)->wait();
        if (group.getRank() == 0) {
          static std::mutex mutex;
          std::lock_guard<std::mutex> lock(mutex);
          results[run].push_back(tensors[0]);
        }
        std::vector<Tensors> lists(1);
        for (int rank = 0; rank < 3; ++rank) lists[0].push_back(torch::zeros({count}));
        group.allgather(lists, tensors)->wait();
        for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(lists[0][rank].equal(tensors[0]));
      }
    });
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(results[0][i].equal(results[1][i]));
  EXPECT_TRUE(results[0][0].equal(results[0][2].narrow(0, 0, 100)));
  EXPECT_TRUE(results[0][1].equal(results[0][2].narrow(0, 0, 4000)));
}

TEST(ShmValues, HalvesAreSummedInFloat) {
  // In float16, 2048 + 1 + 1 + 1 is 2048; in float32 it is 2051, which rounds to 2052.
  run_native(4, [](c10d::ProcessGroup& group) {
    for (const std::int64_t count : {10, 200000}) {
      Tensors tensors = {torch::full({count}, group.getRank() == 0 ? 2048.0 : 1.0, torch::kHalf)};
      group.allreduce(tensors)->wait();
      EXPECT_TRUE(tensors[0].eq(2052).all().item<bool>());
    }
  });
}

TEST(ShmValues, ComplexNumbersAndFactors) {
  run_native(2, [](c10d::ProcessGroup& group) {
    Tensors tensors = {torch::full({5}, c10::complex<float>(1, group.getRank()), torch::kComplexFloat)};
    group.allreduce(tensors)->wait();
    EXPECT_EQ(tensors[0][4].item<c10::complex<float>>(), c10::complex<float>(2, 1));

    for (const std::int64_t count : {3, 100000}) {
      tensors = {torch::full({count}, group.getRank() + 1.0, torch::kBFloat16)};
      c10d::AllreduceOptions options;
      options.reduceOp = premul_sum(group.getRank() == 0 ? 10.0 : 0.5);  // each rank its own
      group.allreduce(tensors, options)->wait();
      EXPECT_TRUE(tensors[0].eq(11).all().item<bool>());
    }
  });
}

TEST(ShmValues, SeveralTensorsAtOnce) {
  run_native(3, [](c10d::ProcessGroup& group) {
    Tensors tensors;
    for (const std::int64_t count : {3, 0, 50001, 1, 90000})
      tensors.push_back(numbers(torch::kFloat, count, group.getRank()));
    tensors.push_back(numbers(torch::kFloat, 12, group.getRank()).reshape({3, 4}).t());  // dense in another order
    group.allreduce_coalesced(tensors)->wait();
    const std::vector<std::int64_t> counts = {3, 0, 50001, 1, 90000};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_TRUE(tensors[i].equal(reduced(c10d::ReduceOp::SUM, torch::kFloat, counts[i], 3))) << counts[i];
    }
    EXPECT_TRUE(tensors[5].equal(reduced(c10d::ReduceOp::SUM, torch::kFloat, 12, 3).reshape({3, 4}).t()));

    Tensors outputs = {torch::zeros({6}), torch::zeros({300000})};
    Tensors inputs = {numbers(torch::kFloat, 2, group.getRank()), numbers(torch::kFloat, 100000, group.getRank())};
    group.allgather_into_tensor_coalesced(outputs, inputs)->wait();
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(outputs[0].narrow(0, 2 * rank, 2).equal(numbers(torch::kFloat, 2, rank)));
      EXPECT_TRUE(outputs[1].narrow(0, 100000 * rank, 100000).equal(numbers(torch::kFloat, 100000, rank)));
    }
    Tensors parts = {torch::zeros({2}), torch::zeros({100000})};
    group.reduce_scatter_tensor_coalesced(parts, outputs)->wait();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(parts[i].equal(inputs[i] * 3));
  });
}

// Tensors that begin at odd places of their memory.
TEST(ShmValues, UnalignedTensors) {
  run_native(2, [](c10d::ProcessGroup& group) {
    for (const auto dtype : {torch::kFloat, torch::kHalf, torch::kByte, torch::kDouble}) {
      for (const std::int64_t count : {17, 70000}) {
        at::Tensor whole = torch::zeros({count + 3}, dtype);
        Tensors tensors = {whole.narrow(0, 1 + group.getRank(), count)};
        tensors[0].copy_(numbers(dtype, count, group.getRank()));
        group.allreduce(tensors)->wait();
        EXPECT_TRUE(tensors[0].equal(reduced(c10d::ReduceOp::SUM, dtype, count, 2))) << dtype << count;
        EXPECT_EQ(whole[0].item<double>(), 0) << "wrote before the tensor";
        EXPECT_EQ(whole[count + 2].item<double>() * (1 - group.getRank()), 0) << "wrote after the tensor";
      }
    }
  });
}

TEST(ShmValues, RefusesWhatItCannotDo) {
  run_groups(
      1,
      [](ProcessGroup& group) {
        c10d::ProcessGroup& native = *group.native();
        const auto refused = [](const std::function<void()>& body, const std::string& part) {
          const Error error = error_of(body);
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
          EXPECT_THAT(error.what(), HasSubstr(part));
        };
        const auto reduce = [&](const at::Tensor& tensor, c10d::ReduceOp op) {
          Tensors tensors = {tensor};
          c10d::AllreduceOptions options;
          options.reduceOp = std::move(op);
          native.allreduce(tensors, options)->wait();
        };
        refused([&] { reduce(torch::zeros({2}), c10d::ReduceOp::BAND); }, "BAND");
        refused([&] { reduce(torch::zeros({2}, torch::kBool), c10d::ReduceOp::AVG); }, "AVG");
        refused([&] { reduce(torch::zeros({2}, torch::kComplexFloat), c10d::ReduceOp::PRODUCT); }, "PRODUCT");
        refused([&] { reduce(torch::zeros({2}, torch::kInt), premul_sum(2.0)); }, "PREMUL_SUM");
        refused([&] { reduce(torch::zeros({4, 4}).select(1, 0), c10d::ReduceOp::SUM); }, "not dense");
        Tensors inputs = {torch::zeros({2})};
        std::vector<Tensors> lists = {{torch::zeros({3})}};
        refused([&] { native.allgather(lists, inputs); }, "output 0");
        lists = {{torch::zeros({2}), torch::zeros({2})}};
        refused([&] { native.allgather(lists, inputs); }, "one a rank");
        lists = {{torch::zeros({2, 2}).select(1, 0)}};
        refused([&] { native.allgather(lists, inputs); }, "not contiguous");
        at::Tensor in = torch::zeros({4}), out = torch::zeros({4});
        std::vector<std::int64_t> three = {3}, none;
        refused([&] { native.alltoall_base(out, in, none, three); }, "splits [3]");
        group.all_reduce(torch::ones({2}));  // the group still works
      },
      "shm");
}

}  // namespace
}  // namespace tandem::testing::shm_test
