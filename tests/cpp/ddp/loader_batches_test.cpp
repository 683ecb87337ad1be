// Training on a loader's batches: whatever the number of ranks, it is one process's training on the global batches,
// also where slices differ in size or are empty.
#include <torch/torch.h>

#include "cpp/comm/threads.h"
#include "tandem/ddp.h"
#include "tandem/loader.h"

namespace tandem::testing::loader_batches_test {
namespace {

constexpr std::int64_t kBatch = 8;

// Parameters after two epochs on `samples` samples.
std::vector<at::Tensor> train(ProcessGroup* group, std::int64_t samples, Tail tail) {
  const auto data = tensor_dataset({torch::sin(torch::arange(samples * 5, torch::kDouble)).view({samples, 5})}, {"x"});
  LoaderOptions options;
  options.batch_size = kBatch;
  options.tail = tail;
  if (group) {
    options.rank = group->rank();
    options.world_size = group->size();
  }
  DataLoader loader(data, options);

  torch::nn::Linear layer(5, 2);
  layer->to(torch::kDouble);
  {
    torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : layer->parameters()) parameter.fill_(0.25);
  }
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  DataParallelOptions parallel;
  parallel.average_by_samples = true;
  std::optional<DistributedDataParallel<torch::nn::Linear>> model;
  if (group) model.emplace(layer, std::shared_ptr<ProcessGroup>(group, [](ProcessGroup*) {}), parallel);
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    for (const LoadedBatch& batch : loader.epoch(epoch)) {
      optimizer.zero_grad();
      const at::Tensor output = model ? model->forward(batch["x"]) : layer->forward(batch["x"]);
      output.pow(2).sum(1).mean().backward();
      optimizer.step();
      loader.commit();
    }
  }
  return layer->parameters();
}

TEST(LoaderBatches, TrainAsOneProcessDoes) {
  for (const std::int64_t samples : {31, 17}) {  // with 17 the last global batch has one sample
    for (const Tail tail : {Tail::kShort, Tail::kDrop, Tail::kRepeat}) {
      const auto expected = train(nullptr, samples, tail);
      for (const int size : {2, 3, 5}) {
        run_groups(size, [&](ProcessGroup& group) {
          const auto trained = train(&group, samples, tail);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_TRUE(torch::allclose(trained[i], expected[i], 1e-12, 1e-14))
                << samples << " samples, tail " << static_cast<int>(tail) << ", on " << size << " ranks";
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace tandem::testing::loader_batches_test
