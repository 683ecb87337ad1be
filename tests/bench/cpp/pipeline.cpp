// Our side of `pipeline`: a step of a transformer of equal blocks, by the ranks of a pipeline, or by one on the whole batch.
//
//   bench-pipeline --schedule 1f1b|gpipe|whole --micro-batches 8 --warmup 2 --steps 5 [--backend shm]
//
// Writes rank-R.json into the folder BENCH_OUT: step_ms and losses.
#include <torch/torch.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "tandem/pipeline.h"

namespace {

constexpr int kBlocks = 8, kWidth = 256, kHeads = 4, kSequence = 128, kBatch = 32;

// The same numbers as the peer's.
at::Tensor numbers(at::IntArrayRef sizes, int seed, double scale) {
  const at::Tensor places = torch::arange(c10::multiply_integers(sizes), torch::kFloat64);
  return (torch::sin(places * 0.7 + seed) * scale).to(torch::kFloat32).view(sizes);
}

struct BlockImpl : torch::nn::Module {
  BlockImpl() {
    norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
    norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})));
    attention = register_module("attention", torch::nn::Linear(kWidth, 3 * kWidth));
    projection = register_module("projection", torch::nn::Linear(kWidth, kWidth));
    up = register_module("up", torch::nn::Linear(kWidth, 4 * kWidth));
    down = register_module("down", torch::nn::Linear(4 * kWidth, kWidth));
  }
  at::Tensor forward(at::Tensor x) {
    const std::int64_t rows = x.size(0);
    const at::Tensor all = attention(norm1(x)).view({rows, kSequence, 3, kHeads, kWidth / kHeads});
    const auto parts = all.permute({2, 0, 3, 1, 4}).unbind(0);
    const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    x = x + projection(mixed.transpose(1, 2).reshape({rows, kSequence, kWidth}));
    return x + down(torch::gelu(up(norm2(x))));
  }
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear attention{nullptr}, projection{nullptr}, up{nullptr}, down{nullptr};
};
TORCH_MODULE(Block);

struct PartImpl : torch::nn::Module {
  PartImpl(int first, int count) {
    for (int i = first; i < first + count; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), Block()));
      torch::NoGradGuard no_grad;
      for (auto& item : blocks.back()->named_parameters()) {
        if (item.value().dim() == 2) item.value().copy_(numbers(item.value().sizes(), i, 0.02));
        if (item.key().ends_with("bias")) item.value().zero_();
      }
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (auto& block : blocks) x = block->forward(x);
    return x;
  }
  std::vector<Block> blocks;
};
TORCH_MODULE(Part);

int run(std::map<std::string, std::string> flags) {
  const int warmup = std::stoi(flags["--warmup"]), steps = std::stoi(flags["--steps"]);
  const std::string schedule = flags["--schedule"];
  torch::set_num_threads(1);
  tandem::ProcessGroupOptions options;
  options.backend = flags.contains("--backend") ? flags["--backend"] : "shm";
  const auto group = tandem::ProcessGroup::create(options);
  const bool whole = schedule == "whole";
  const int ranks = whole ? 1 : group->size(), rank = group->rank();
  Part part(kBlocks / ranks * rank, kBlocks / ranks);
  torch::optim::SGD optimizer(part->parameters(), torch::optim::SGDOptions(0.01));
  const at::Tensor x = numbers({kBatch, kSequence, kWidth}, 1, 1), y = numbers({kBatch, kSequence, kWidth}, 2, 1);
  std::unique_ptr<tandem::Pipeline> pipeline;
  if (!whole) {
    tandem::PipelineOptions given;
    given.schedule = tandem::make_pipeline_schedule(schedule, ranks, std::stoi(flags["--micro-batches"]), 1);
    given.loss = [](const auto& outputs, const auto& targets) { return torch::mse_loss(outputs[0], targets[0]); };
    pipeline = std::make_unique<tandem::Pipeline>(group, std::vector{tandem::pipeline_stage(rank, part)}, given);
  }
  std::string losses;
  const auto step = [&] {
    optimizer.zero_grad();
    double loss = 0;
    if (pipeline) {
      using Tensors = std::vector<at::Tensor>;
      loss = pipeline->step(rank == 0 ? Tensors{x} : Tensors{}, rank + 1 == ranks ? Tensors{y} : Tensors{});
    } else {
      const at::Tensor tensor = torch::mse_loss(part->forward(x), y);
      tensor.backward();
      loss = tensor.item<double>();
    }
    optimizer.step();
    losses += (losses.empty() ? "" : ", ") + std::to_string(loss);
  };
  for (int i = 0; i < warmup; ++i) step();
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  std::ofstream out(std::string(std::getenv("BENCH_OUT")) + "/rank-" + std::to_string(rank) + ".json");
  out << "{\"step_ms\": " << seconds * 1000 / std::max(steps, 1) << ", \"losses\": [" << losses << "]}\n";
  return out.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  try {
    return run(std::move(flags));
  } catch (const std::exception& error) {
    std::cerr << "bench-pipeline: " << error.what() << "\n";
    return 1;
  }
}
