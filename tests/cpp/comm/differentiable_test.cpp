// Gradients through collectives against those of one process that computes what all ranks do, in double.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "tandem/differentiable_collectives.h"

namespace tandem::testing::differentiable_test {
namespace {

using Tensors = std::vector<at::Tensor>;

// A rank's input, the same wherever it is computed.
at::Tensor input_of(int rank, int number, std::vector<std::int64_t> sizes = {2, 3}) {
  const auto count = c10::multiply_integers(sizes);
  return (torch::arange(count, torch::kDouble) * 0.3 + rank * 0.7 + number * 0.11).sin().reshape(sizes);
}

// What a rank makes of its results, different on each.
at::Tensor loss_of(int rank, const Tensors& results) {
  at::Tensor loss = torch::zeros({}, torch::kDouble);
  for (std::size_t i = 0; i < results.size(); ++i) loss = loss + (results[i].pow(3) * (rank + 1.0 + 0.5 * i)).sum();
  return loss;
}

Tensors leaves(int rank, int count, bool uneven) {
  Tensors result;
  for (int i = 0; i < count; ++i) {
    result.push_back(input_of(rank, i, {uneven ? i + 1 : 2, 3}).requires_grad_());
  }
  return result;
}

// `count` inputs on each rank; `distributed` is what one rank calls, `together` what the results of all ranks are.
void check(int size, int count, const std::function<Tensors(const differentiable::Group&, const Tensors&)>& distributed,
           const std::function<std::vector<Tensors>(const std::vector<Tensors>&)>& together, bool uneven = false) {
  std::vector<Tensors> all;
  for (int rank = 0; rank < size; ++rank) all.push_back(leaves(rank, count, uneven));
  const std::vector<Tensors> expected = together(all);
  at::Tensor loss = torch::zeros({}, torch::kDouble);
  for (int rank = 0; rank < size; ++rank) loss = loss + loss_of(rank, expected[rank]);
  loss.backward();

  const Store store = hash_store();
  run_ranks(size, [&](int rank) {
    const auto group = ProcessGroup::create(options_for(rank, size), store);
    const Tensors inputs = leaves(rank, count, uneven);
    const Tensors results = distributed(group, inputs);
    ASSERT_EQ(results.size(), expected[rank].size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(results[i].allclose(expected[rank][i], 1e-12, 1e-12)) << "result " << i << " of rank " << rank;
    }
    loss_of(rank, results).backward();
    for (int i = 0; i < count; ++i) {
      const at::Tensor want = all[rank][i].grad().defined() ? all[rank][i].grad() : torch::zeros_like(inputs[i]);
      ASSERT_TRUE(inputs[i].grad().defined()) << "input " << i << " of rank " << rank;
      EXPECT_TRUE(inputs[i].grad().allclose(want, 1e-12, 1e-12)) << "input " << i << " of rank " << rank;
    }
    group->barrier();
  });
}

at::Tensor sum_of(const std::vector<Tensors>& all, int number) {
  at::Tensor sum = torch::zeros_like(all[0][number]);
  for (const Tensors& one : all) sum = sum + one[number];
  return sum;
}

class Gradients : public ::testing::TestWithParam<int> {};

TEST_P(Gradients, AllReduceAndReduce) {
  const int size = GetParam();
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
    const double scale = op == ReduceOp::kAvg ? 1.0 / size : 1;
    check(size, 1, [&](auto& group, auto& in) { return Tensors{differentiable::all_reduce(group, in[0], op)}; },
          [&](auto& all) { return std::vector<Tensors>(size, Tensors{sum_of(all, 0) * scale}); });
    check(size, 1, [&](auto& group, auto& in) { return Tensors{differentiable::reduce(group, in[0], size - 1, op)}; },
          [&](auto& all) {
            std::vector<Tensors> results(size, Tensors{torch::zeros({2, 3}, torch::kDouble)});
            results[size - 1][0] = sum_of(all, 0) * scale;
            return results;
          });
  }
}

TEST_P(Gradients, BroadcastGatherScatter) {
  const int size = GetParam(), root = size - 1;
  check(size, 1, [&](auto& group, auto& in) { return Tensors{differentiable::broadcast(group, in[0], root)}; },
        [&](auto& all) { return std::vector<Tensors>(size, Tensors{all[root][0] * 1}); });
  check(size, 1, [&](auto& group, auto& in) { return differentiable::gather(group, in[0], root); },
        [&](auto& all) {
          std::vector<Tensors> results(size, Tensors(size, torch::zeros({2, 3}, torch::kDouble)));
          for (int i = 0; i < size; ++i) results[root][i] = all[i][0] * 1;
          return results;
        });
  check(size, size, [&](auto& group, auto& in) { return Tensors{differentiable::scatter(group, in, root)}; },
        [&](auto& all) {
          std::vector<Tensors> results;
          for (int i = 0; i < size; ++i) results.push_back({all[root][i] * 1});
          return results;
        });
}

TEST_P(Gradients, AllGatherReduceScatter) {
  const int size = GetParam();
  check(size, 1, [&](auto& group, auto& in) { return differentiable::all_gather(group, in[0]); },
        [&](auto& all) {
          Tensors gathered;
          for (int i = 0; i < size; ++i) gathered.push_back(all[i][0] * 1);
          return std::vector<Tensors>(size, gathered);
        });
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg}) {
    const double scale = op == ReduceOp::kAvg ? 1.0 / size : 1;
    check(size, size, [&](auto& group, auto& in) { return Tensors{differentiable::reduce_scatter(group, in, op)}; },
          [&](auto& all) {
            std::vector<Tensors> results;
            for (int i = 0; i < size; ++i) results.push_back({sum_of(all, i) * scale});
            return results;
          },
          /*uneven=*/true);
  }
}

TEST_P(Gradients, AllToAll) {
  const int size = GetParam();
  const auto exchanged = [&](auto& all) {
    std::vector<Tensors> results(size);
    for (int to = 0; to < size; ++to) {
      for (int from = 0; from < size; ++from) results[to].push_back(all[from][to] * 1);
    }
    return results;
  };
  check(size, size, [&](auto& group, auto& in) { return differentiable::all_to_all(group, in); }, exchanged);
  // Input i has i + 1 rows, so that rank r gets r + 1 from each.
  check(size, size,
        [&](auto& group, auto& in) {
          return differentiable::all_to_all(
              group, in, std::vector<std::vector<std::int64_t>>(size, {group->rank() + 1, 3}));
        },
        exchanged, /*uneven=*/true);
  check(size, size,
        [&](auto& group, auto& in) {
          std::vector<std::int64_t> sent;
          for (int i = 0; i < size; ++i) sent.push_back(i + 1);
          const std::vector<std::int64_t> received(size, group->rank() + 1);
          return differentiable::all_to_all_single(group, torch::cat(in), received, sent).split_with_sizes(received);
        },
        exchanged, /*uneven=*/true);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Gradients, ::testing::Values(1, 2, 3));

TEST(Differentiable, RefusesWhatHasNoGradient) {
  const auto group = ProcessGroup::create(options_for(0, 1), hash_store());
  const at::Tensor tensor = torch::ones({2}, torch::kDouble);
  for (const auto& body : std::vector<std::function<void()>>{
           [&] { differentiable::all_reduce(group, tensor, ReduceOp::kMax); },
           [&] { differentiable::reduce_scatter(group, {tensor}, ReduceOp::kProduct); },
           [&] { differentiable::scatter(group, {}, 0); }, [&] { differentiable::broadcast(group, at::Tensor(), 0); },
           [&] { differentiable::gather(nullptr, tensor, 0); }}) {
    EXPECT_EQ(error_of(body).code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tandem::testing::differentiable_test
