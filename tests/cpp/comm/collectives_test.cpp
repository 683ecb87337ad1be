// What each collective computes, over real Gloo between threads.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <map>

#include "cpp/comm/threads.h"
#include "tandem/runtime.h"

namespace tandem::testing::collectives_test {
namespace {

using ::testing::HasSubstr;

using Tensors = std::vector<at::Tensor>;

class Collectives : public ::testing::TestWithParam<int> {};

TEST_P(Collectives, AllReduceComputesEveryOperation) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    const auto reduce = [&](ReduceOp op, at::ScalarType dtype) {
      at::Tensor tensor = torch::arange(1, 6, torch::kLong).mul(group.rank() + 1).to(dtype);
      group.all_reduce(tensor, op);
      return tensor;
    };
    at::Tensor all = torch::arange(1, 6, torch::kLong).unsqueeze(0).mul(torch::arange(1, size + 1).unsqueeze(1));
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kLong, torch::kInt}) {
      EXPECT_TRUE(reduce(ReduceOp::kSum, dtype).equal(all.sum(0).to(dtype))) << dtype;
      EXPECT_TRUE(reduce(ReduceOp::kProduct, dtype).equal(all.prod(0).to(dtype))) << dtype;
      EXPECT_TRUE(reduce(ReduceOp::kMin, dtype).equal(std::get<0>(all.min(0)).to(dtype))) << dtype;
      EXPECT_TRUE(reduce(ReduceOp::kMax, dtype).equal(std::get<0>(all.max(0)).to(dtype))) << dtype;
    }
    EXPECT_TRUE(reduce(ReduceOp::kAvg, torch::kFloat).allclose(all.to(torch::kFloat).mean(0)));
    EXPECT_TRUE(reduce(ReduceOp::kAvg, torch::kLong).equal(all.sum(0).div(size, "trunc")));
    at::Tensor band = all[0], bor = all[0], bxor = all[0];
    for (int i = 1; i < size; ++i) {
      band = band.bitwise_and(all[i]);
      bor = bor.bitwise_or(all[i]);
      bxor = bxor.bitwise_xor(all[i]);
    }
    EXPECT_TRUE(reduce(ReduceOp::kBand, torch::kLong).equal(band));
    EXPECT_TRUE(reduce(ReduceOp::kBor, torch::kLong).equal(bor));
    EXPECT_TRUE(reduce(ReduceOp::kBxor, torch::kLong).equal(bxor));
  });
}

TEST_P(Collectives, BroadcastReduceAllGatherBarrier) {
  const int size = GetParam();
  run_groups(size, [&](ProcessGroup& group) {
    for (int root = 0; root < size; ++root) {
      at::Tensor tensor = torch::full({3, 2}, static_cast<double>(group.rank()));
      group.broadcast(tensor, root);
      EXPECT_TRUE(tensor.equal(torch::full({3, 2}, static_cast<double>(root))));
      tensor = torch::full({4}, group.rank() + 1.0);
      group.reduce(tensor, root);
      if (group.rank() == root) {
        EXPECT_EQ(tensor[0].item<double>(), size * (size + 1) / 2.0);
      }
      tensor = torch::full({4}, group.rank() + 1.0);
      group.reduce(tensor, root, ReduceOp::kAvg);
      if (group.rank() == root) {
        EXPECT_EQ(tensor[0].item<double>(), (size + 1) / 2.0);
      }
    }
    std::vector<at::Tensor> outputs;
    for (int i = 0; i < size; ++i) outputs.push_back(torch::zeros({2, 3}));
    group.all_gather(outputs, torch::full({2, 3}, group.rank() * 10.0));
    for (int i = 0; i < size; ++i) EXPECT_TRUE(outputs[i].equal(torch::full({2, 3}, i * 10.0)));
    group.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives, ::testing::Values(1, 2, 3));

TEST(CollectiveTypes, MovesTypesThatGlooDoesNotKnow) {
  run_groups(2, [](ProcessGroup& group) {
    for (const auto dtype : {torch::kShort, torch::kBool, torch::kComplexFloat, torch::kBFloat16}) {
      at::Tensor tensor = torch::full({3, 2}, group.rank(), torch::kLong).to(dtype);
      std::vector<at::Tensor> outputs = {torch::zeros_like(tensor), torch::zeros_like(tensor)};
      group.all_gather(outputs, tensor);
      EXPECT_EQ(outputs[1].to(torch::kFloat).sum().item<float>(), 6.0f) << dtype;
      group.broadcast(tensor, 1);
      EXPECT_TRUE(tensor.equal(outputs[1])) << dtype;
    }
    at::Tensor complex = torch::full({2}, c10::complex<float>(1, group.rank()), torch::kComplexFloat);
    group.all_reduce(complex);
    EXPECT_EQ(complex[0].item<c10::complex<float>>(), c10::complex<float>(2, 1));
    at::Tensor scalar = torch::full({}, group.rank() + 1.0);
    group.all_reduce(scalar);
    EXPECT_EQ(scalar.item<double>(), 3.0);
    at::Tensor empty = torch::zeros({0, 3});
    group.all_reduce(empty);
  });
}

TEST(CollectiveTypes, RefusesWhatCannotBeDone) {
  run_groups(1, [](ProcessGroup& group) {
    const auto refused = [](const std::function<void()>& body, const std::string& part) {
      const Error error = error_of(body);
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(part));
    };
    at::Tensor strided = torch::zeros({4, 4}).select(1, 0);
    refused([&] { group.all_reduce(strided); }, "not dense");
    refused([&] { group.all_reduce(torch::zeros({2}, torch::kShort)); }, "int32");
    refused([&] { group.all_reduce(torch::zeros({2}), ReduceOp::kBand); }, "whole numbers");
    refused([&] { group.broadcast(torch::zeros({2}), 1); }, "root 1");
    refused([&] { group.all_gather({}, torch::zeros({2})); }, "got 0 outputs");
    refused([&] { group.all_gather({torch::zeros({3})}, torch::zeros({2})); }, "output 0");
    refused([&] { group.all_reduce(at::Tensor()); }, "undefined");
    group.all_reduce(torch::ones({2}));  // the group still works
  });
}

TEST(CollectiveOrder, ManyAsynchronousOnesOverlap) {
  run_groups(2, [](ProcessGroup& group) {
    std::vector<at::Tensor> tensors;
    std::vector<Work> works;
    for (int i = 0; i < 50; ++i) {
      tensors.push_back(torch::full({1000}, i + group.rank() * 100.0));
      works.push_back(group.all_reduce_async(tensors.back()));
    }
    for (int i = 49; i >= 0; --i) {
      works[i].wait(std::chrono::seconds(20));
      EXPECT_TRUE(works[i].is_completed());
      EXPECT_EQ(tensors[i][999].item<double>(), 2 * i + 100.0);
    }
  });
}

TEST(NoneBackend, ExchangesNothingAndNeedsNoPeer) {
  const auto group = ProcessGroup::create(options_for(1, 2, "none"));
  EXPECT_EQ(group->backend(), "none");
  at::Tensor tensor = torch::ones({3});
  group->all_reduce(tensor);
  group->broadcast(tensor, 0);
  group->barrier();
  EXPECT_TRUE(tensor.equal(torch::ones({3})));
  std::vector<at::Tensor> outputs = {torch::zeros({3}), torch::zeros({3})};
  group->all_gather(outputs, tensor);
  EXPECT_TRUE(outputs[0].equal(tensor));
}

TEST(Backends, UnknownOneNamesTheKnown) {
  const Error error = error_of([] { ProcessGroup::create(options_for(0, 1, "mpi")); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("'mpi'"), HasSubstr("gloo, nccl, shm, auto and none")));
}

TEST(Backends, NcclWithoutGpuIsAnErrorAndNoSilentGloo) {
  ProcessGroupOptions options = options_for(0, 1, "nccl");
  options.device = c10::Device(c10::kCUDA, 0);
  const Error error = error_of([&] { ProcessGroup::create(options); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("nccl"));
}

TEST(Backends, AMapGivesTheCpuItsOwn) {
  const std::map<std::string, std::string> maps = {
      {"cpu:gloo", "cpu:gloo"}, {"cpu:shm", "cpu:shm"}, {"cpu:auto", "cpu:shm"}};
  for (const auto& [names, became] : maps) {
    run_groups(
        2,
        [&](ProcessGroup& group) {
          EXPECT_EQ(group.backend(), became);
          at::Tensor tensor = torch::full({3}, group.rank() + 1.0);
          group.all_reduce(tensor);
          EXPECT_EQ(tensor[2].item<double>(), 3);
          group.barrier();
          EXPECT_EQ(group.all_gather_bytes("x").size(), 2u);
          const auto inner = group.new_group({1, 0});
          EXPECT_EQ(inner->backend(), became);
          inner->broadcast(tensor, 0);
          Tensors native = {tensor};
          group.native()->allreduce(native)->wait();
          EXPECT_EQ(tensor[2].item<double>(), 6);
          // Bytes without a place, where no backend is.
          const Error error = error_of([&] { group.all_reduce(torch::ones({2}, torch::kMeta)); });
          EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
          EXPECT_THAT(error.what(), HasSubstr("backend " + became + " takes no tensors on meta"));
          group.barrier();  // the group still works
        },
        names);
  }
}

TEST(Backends, AMapWithAGpuNeedsOne) {
  if (has_cuda()) GTEST_SKIP() << "this machine has a GPU";
  for (const std::string names : {"cpu:shm,cuda:nccl", "cpu:gloo,cuda:gloo", "cuda:nccl", "cpu:auto,cuda:auto"}) {
    ProcessGroupOptions options = options_for(0, 1, names);
    options.device = c10::Device(c10::kCUDA, 0);
    const Error error = error_of([&] { ProcessGroup::create(options, hash_store()); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << names;
    EXPECT_THAT(error.what(), HasSubstr(names.find("gloo") == std::string::npos ? "nccl" : names));
  }
}

TEST(Backends, RanksWithDifferentMapsAreNamed) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    const Error error =
        error_of([&] { ProcessGroup::create(options_for(rank, 2, rank == 0 ? "cpu:shm" : "cpu:gloo"), store); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("rank 1 was given 'cpu:gloo', rank 0 'cpu:shm'"));
  });
}

TEST(Groups, CanBeMadeAgainAndAgainThroughOneStore) {
  const Store store = hash_store();
  run_ranks(2, [&](int rank) {
    for (int round = 0; round < 20; ++round) {
      const auto group = ProcessGroup::create(options_for(rank, 2), store);
      at::Tensor tensor = torch::full({8}, round + rank * 1.0);
      group->all_reduce(tensor);
      EXPECT_EQ(tensor[7].item<double>(), 2 * round + 1.0);
      group->barrier();
    }
  });
}

}  // namespace
}  // namespace tandem::testing::collectives_test
