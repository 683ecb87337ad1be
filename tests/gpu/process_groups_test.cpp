// Process groups on one GPU: NCCL with one rank, which is all that it takes there, and Gloo with several.
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>

#include <tuple>

#include "cpp/comm/threads.h"
#include "gpu/gpu.h"

namespace tandem::testing::process_groups_test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<ProcessGroup> group_of_one(const std::string& backend) {
  ProcessGroupOptions options = options_for(0, 1, backend);
  options.device = kGpu;
  return ProcessGroup::create(options, hash_store());
}

using NcclGroup = Gpu;

TEST_F(NcclGroup, CollectivesOfOneRankKeepValues) {
  const auto group = group_of_one("nccl");
  EXPECT_EQ(group->backend(), "nccl");
  const at::Tensor values = torch::arange(1, 13, torch::dtype(torch::kFloat).device(kGpu)).view({3, 4});
  for (const auto op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax}) {
    const at::Tensor tensor = values.clone();
    group->all_reduce(tensor, op);
    EXPECT_TRUE(tensor.equal(values));
    group->reduce(tensor, 0, op);
    EXPECT_TRUE(tensor.equal(values));
  }
  for (const auto dtype : {torch::kHalf, torch::kBFloat16, torch::kDouble, torch::kLong, torch::kByte}) {
    const at::Tensor tensor = values.to(dtype);
    group->all_reduce(tensor);
    EXPECT_TRUE(tensor.equal(values.to(dtype))) << dtype;
  }
  const at::Tensor sent = values.clone();
  group->broadcast(sent, 0);
  EXPECT_TRUE(sent.equal(values));
  std::vector<at::Tensor> gathered = {torch::zeros_like(values)};
  group->all_gather(gathered, values);
  EXPECT_TRUE(gathered[0].equal(values));
  group->barrier();
  EXPECT_EQ(group->all_gather_bytes("x"), std::vector<std::string>{"x"});
}

TEST_F(NcclGroup, AnAsynchronousResultIsThereAfterSynchronize) {
  const auto group = group_of_one("nccl");
  const at::Tensor tensor = torch::ones({1 << 20}, kGpu);
  Work work = group->all_reduce_async(tensor);
  work.synchronize();
  EXPECT_TRUE(work.is_completed());
  EXPECT_FALSE(work.error().has_value());
  EXPECT_EQ(tensor.sum().item<double>(), 1 << 20);
}

TEST_F(NcclGroup, SeesWhatTheStreamOfTheCallComputed) {
  const auto group = group_of_one("nccl");
  const c10::impl::VirtualGuardImpl cuda(c10::kCUDA);
  const c10::StreamGuard guard(cuda.getStreamFromGlobalPool(kGpu));
  const at::Tensor matrix = torch::eye(2048, kGpu);
  for (int round = 0; round < 10; ++round) {
    at::Tensor product = matrix.mul(round);  // long enough that an early read would see something else
    for (int i = 0; i < 20; ++i) product = product.mm(matrix);
    Work work = group->all_reduce_async(product);
    work.wait();
    EXPECT_EQ(product.add(1).sum().item<double>(), 2048.0 * round + 2048.0 * 2048.0);
  }
}

TEST_F(NcclGroup, AbortedItRefusesAndAnotherOneWorks) {
  for (int round = 0; round < 3; ++round) {
    const auto group = group_of_one("nccl");
    const at::Tensor tensor = torch::ones({8}, kGpu);
    group->all_reduce(tensor);
    group->abort();
    EXPECT_EQ(error_of([&] { group->all_reduce(tensor); }).code(), ErrorCode::kAborted);
    EXPECT_EQ(tensor.sum().item<double>(), 8);
  }
}

TEST_F(NcclGroup, RefusesTensorsOnTheCpuAndGpusThatAreNotThere) {
  const auto group = group_of_one("nccl");
  const Error error = error_of([&] { group->all_reduce(torch::ones({2})); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("cpu"));
  ProcessGroupOptions options = options_for(0, 1, "nccl");
  options.device = c10::Device(c10::kCUDA, 64);
  EXPECT_THAT(error_of([&] { ProcessGroup::create(options, hash_store()); }).what(), HasSubstr("cuda:64"));
}

using BackendMap = Gpu;

TEST_F(BackendMap, SendsEachTensorWhereItIs) {
  const auto group = group_of_one("cuda:nccl,cpu:shm");
  EXPECT_EQ(group->backend(), "cpu:shm,cuda:nccl");
  const at::Tensor on_gpu = torch::ones({4}, kGpu), on_cpu = torch::ones({4});
  group->all_reduce(on_gpu);
  group->all_reduce(on_cpu);
  group->barrier();
  EXPECT_EQ(on_gpu.sum().item<double>() + on_cpu.sum().item<double>(), 8);
  EXPECT_THAT(error_of([&] { group->all_reduce_coalesced({on_gpu, on_cpu}); }).what(), HasSubstr("the tensors of one"));
  group->abort();
  EXPECT_EQ(error_of([&] { group->all_reduce(on_cpu); }).code(), ErrorCode::kAborted);
  EXPECT_EQ(error_of([&] { group->all_reduce(on_gpu); }).code(), ErrorCode::kAborted);
}

TEST_F(BackendMap, AutoTakesNcclForAGpu) {
  EXPECT_THAT(group_of_one("auto")->backend(), HasSubstr("nccl"));
}

using GlooOnGpu = Gpu;

TEST_F(GlooOnGpu, TwoRanksExchangeTensorsOfTheGpu) {
  run_groups(2, [](ProcessGroup& group) {
    const double rank = group.rank();
    const at::Tensor tensor = torch::full({1000}, rank + 1, kGpu);
    group.all_reduce(tensor);
    EXPECT_TRUE(tensor.eq(3).all().item<bool>());
    group.all_reduce(tensor, ReduceOp::kAvg);
    EXPECT_TRUE(tensor.eq(3).all().item<bool>());
    const at::Tensor sent = torch::full({5}, rank, kGpu);
    group.broadcast(sent, 1);
    EXPECT_TRUE(sent.eq(1).all().item<bool>());
    std::vector<at::Tensor> gathered = {torch::zeros({3}, kGpu), torch::zeros({3}, kGpu)};
    group.all_gather(gathered, torch::full({3}, rank, kGpu));
    EXPECT_TRUE(gathered[1].eq(1).all().item<bool>());
    const at::Tensor on_cpu = torch::ones({2});
    group.all_reduce(on_cpu);
    EXPECT_EQ(on_cpu.sum().item<double>(), 4);
  });
}

TEST_F(GlooOnGpu, AbortedItRefusesAndAnotherOneWorks) {
  const Store store = hash_store();
  for (int round = 0; round < 3; ++round) {
    run_ranks(2, [&](int rank) {
      const auto group = ProcessGroup::create(options_for(rank, 2), store);
      const at::Tensor tensor = torch::ones({4}, kGpu);
      group->all_reduce(tensor);
      group->abort();
      EXPECT_EQ(error_of([&] { group->all_reduce(tensor); }).code(), ErrorCode::kAborted);
      EXPECT_EQ(tensor.sum().item<double>(), 8);
    });
  }
}

using PinnedMemory = Gpu;

TEST_F(PinnedMemory, CopiesBothWaysBesideTheProgram) {
  const at::Tensor source = torch::arange(1 << 20, torch::kFloat).pin_memory();
  ASSERT_TRUE(source.is_pinned());
  const at::Tensor on_gpu = source.to(kGpu, /*non_blocking=*/true);
  const at::Tensor back = torch::empty_like(source, source.options().pinned_memory(true));
  back.copy_(on_gpu, /*non_blocking=*/true);
  torch::cuda::synchronize();
  EXPECT_TRUE(back.equal(source));
}

}  // namespace
}  // namespace tandem::testing::process_groups_test
