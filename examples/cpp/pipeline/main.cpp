// Trains a small transformer of bytes that is cut into stages, each on a rank of its own, on a text; with more ranks than
// stages, several such pipelines train data-parallel:
//
//   tandem run -n 4 -- pipeline-cpp --data FILE --stages 2
//
// are two pipelines of two stages.
#include <tandem/device_mesh.h>
#include <tandem/error.h>
#include <tandem/launch_place.h>
#include <tandem/optim.h>
#include <tandem/pipeline.h>
#include <tandem/process_group.h>
#include <tandem/runtime.h>
#include <tandem/store.h>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

struct Settings {
  std::string data, schedule = "1f1b";
  int stages = 2, micro_batches = 4, layers = 4, steps = 400, every = 50;
  std::int64_t heads = 4, width = 64, length = 64, batch_size = 32;
  double lr = 2e-3;
  std::uint64_t seed = 1;
};

constexpr std::int64_t kValues = 256;  // of a byte

// Attention of each position to those up to it, then two layers for each; each is added to what goes in.
struct BlockImpl : torch::nn::Module {
  BlockImpl(std::int64_t width, std::int64_t heads_of_it) : heads(heads_of_it) {
    const auto layer = [](std::int64_t in, std::int64_t out) { return torch::nn::Linear(in, out); };
    norm1 = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
    norm2 = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
    qkv = register_module("qkv", layer(width, 3 * width));
    out = register_module("out", layer(width, width));
    widen = register_module("widen", layer(width, 4 * width));
    close = register_module("close", layer(4 * width, width));
  }

  // [rows, length, width] to the same.
  torch::Tensor forward(torch::Tensor x) {
    const auto sizes = x.sizes().vec();
    const auto parts = qkv(norm1(x)).view({sizes[0], sizes[1], 3, heads, sizes[2] / heads}).permute({2, 0, 3, 1, 4});
    const torch::Tensor attention =
        torch::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
    x = x + out(attention.transpose(1, 2).reshape(sizes));
    return x + close(torch::gelu(widen(norm2(x))));
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear qkv{nullptr}, out{nullptr}, widen{nullptr}, close{nullptr};
};
TORCH_MODULE(Block);

// Some blocks of the model. The first stage begins with embeddings of bytes and positions; the last one ends with a score
// for each byte, by the same weight as the embedding's. Each part draws its weights by a seed of its own, so that the whole
// model begins the same however it is cut.
struct StageImpl : torch::nn::Module {
  StageImpl(int index, const Settings& s) : first(index == 0), last(index == s.stages - 1) {
    const torch::NoGradGuard no_grad;
    torch::manual_seed(s.seed);
    if (first || last) {
      embed = register_module("embed", torch::nn::Embedding(kValues, s.width));
      embed->weight.mul_(0.02);
    }
    if (first) {
      positions = register_module("positions", torch::nn::Embedding(s.length, s.width));
      positions->weight.mul_(0.02);
    }
    for (int i = index * s.layers / s.stages; i < (index + 1) * s.layers / s.stages; ++i) {
      torch::manual_seed(s.seed + 1 + static_cast<std::uint64_t>(i));
      blocks->push_back(Block(s.width, s.heads));
    }
    register_module("blocks", blocks);
    if (last) norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({s.width})));
  }

  // Bytes [rows, length] on the first stage, else what the stage before gives, [rows, length, width]; the last stage gives
  // scores [rows, length, 256].
  torch::Tensor forward(torch::Tensor x) {
    if (first) x = embed(x) + positions(torch::arange(x.size(1)));
    x = blocks->forward(x);
    return last ? torch::linear(norm(x), embed->weight) : x;
  }

  bool first, last;
  torch::nn::Embedding embed{nullptr}, positions{nullptr};
  torch::nn::Sequential blocks;
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(Stage);

[[noreturn]] void refuse(const std::string& why) {
  throw tandem::Error(tandem::ErrorCode::kInvalidArgument, why);
}

// With the ranks that a launcher started, or alone.
std::shared_ptr<tandem::ProcessGroup> make_group() {
  tandem::ProcessGroupOptions options;
  options.backend = "auto";
  if (!tandem::launch_place().launcher.empty()) return tandem::ProcessGroup::create(options);
  options.rank = 0;
  options.world_size = 1;
  return tandem::ProcessGroup::create(options, tandem::hash_store());
}

std::string read_text(const Settings& settings) {
  std::ifstream file(settings.data, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) refuse("cannot read " + settings.data);
  if (static_cast<std::int64_t>(text.size()) <= settings.length) {
    refuse(settings.data + " has " + std::to_string(text.size()) + " bytes; a window takes " +
           std::to_string(settings.length + 1));
  }
  return text;
}

tandem::PipelineSchedule schedule_of(const Settings& settings) {
  if (settings.schedule == "gpipe") return tandem::gpipe_schedule(settings.stages, settings.micro_batches);
  return tandem::one_forward_one_backward_schedule(settings.stages, settings.micro_batches);
}

// The stage by its number, under names of the whole model, with what it shares with another stage.
tandem::PipelineStage piece_of(int index, Stage& stage) {
  tandem::PipelineStage piece = tandem::pipeline_stage(index, stage);
  const bool is_whole = stage->first && stage->last;
  for (auto& [name, parameter] : piece.parameters) {
    if (name == "embed.weight" && !is_whole) {
      piece.tied = {name};
    } else {
      name = "stage" + std::to_string(index) + "." + name;
    }
  }
  return piece;
}

void train(const Settings& settings) {
  const std::string text = read_text(settings);
  const auto world = make_group();
  const int replicas = world->size() / settings.stages;
  if (replicas * settings.stages != world->size() || settings.batch_size % std::max(replicas, 1) != 0) {
    refuse(std::to_string(world->size()) + " ranks are not pipelines of --stages " + std::to_string(settings.stages) +
           " that divide --batch-size " + std::to_string(settings.batch_size) + " among them; start a multiple of it: " +
           "tandem run -n " + std::to_string(2 * settings.stages));
  }
  // Neighbours by rank are one pipeline. The ranks of one stage are a group of the dimension dp.
  const auto mesh = tandem::DeviceMesh::create(world, {replicas, settings.stages}, {"dp", "pp"});
  const int index = mesh->local_rank("pp"), replica = mesh->local_rank("dp");
  Stage stage(index, settings);
  tandem::PipelineOptions options;
  options.schedule = schedule_of(settings);
  options.loss = [](const auto& outputs, const auto& targets) {
    return torch::cross_entropy_loss(outputs[0].flatten(0, 1), targets[0].flatten(0, 1));
  };
  tandem::Pipeline pipeline(mesh, "pp", {piece_of(index, stage)}, options);
  const auto optimizer = tandem::optim::make_optimizer("AdamW", stage->parameters(), {{"lr", settings.lr}});

  const torch::Tensor bytes =
      torch::from_blob(const_cast<char*>(text.data()), {static_cast<std::int64_t>(text.size())}, torch::kByte);
  std::mt19937_64 random(settings.seed);  // the same windows on all ranks, of which each pipeline takes its part
  std::uniform_int_distribution<std::int64_t> begin(0, bytes.numel() - settings.length - 1);
  double total = 0;
  for (int step = 1; step <= settings.steps; ++step) {
    std::vector<torch::Tensor> windows;
    for (std::int64_t row = 0; row < settings.batch_size; ++row) {
      windows.push_back(bytes.narrow(0, begin(random), settings.length + 1));
    }
    const auto parts = torch::stack(windows).to(torch::kLong).chunk(replicas);
    const torch::Tensor& mine = parts[static_cast<std::size_t>(replica)];
    std::vector<torch::Tensor> inputs, targets;
    if (stage->first) inputs = {mine.narrow(1, 0, settings.length)};
    if (stage->last) targets = {mine.narrow(1, 1, settings.length)};
    optimizer->zero_grad();
    total += pipeline.step(inputs, targets);  // the same on all ranks
    optimizer->step();
    if (step % settings.every != 0) continue;
    if (world->rank() == 0) {
      std::printf("step %d/%d: %.4f bits per character\n", step, settings.steps, total / settings.every / std::log(2));
      std::fflush(stdout);
    }
    total = 0;
  }
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a transformer that is cut into stages on a text", "pipeline-cpp");
  const auto above_zero = CLI::Range(1, 1 << 20);
  app.add_option("--data", settings.data, "File with a text")->required();
  app.add_option("--stages", settings.stages, "That the model is cut into; the number of ranks is a multiple of it")
      ->capture_default_str()
      ->check(above_zero);
  app.add_option("--schedule", settings.schedule, "Of forwards and backwards")
      ->check(CLI::IsMember({"1f1b", "gpipe"}))
      ->capture_default_str();
  app.add_option("--micro-batches", settings.micro_batches, "That a pipeline's batch is cut into")
      ->capture_default_str()
      ->check(above_zero);
  app.add_option("--layers", settings.layers, "Blocks of the model")->capture_default_str()->check(above_zero);
  app.add_option("--heads", settings.heads, "Of attention")->capture_default_str()->check(above_zero);
  app.add_option("--width", settings.width, "Of the residual stream, a multiple of --heads")->capture_default_str();
  app.add_option("--length", settings.length, "Bytes that the model sees")->capture_default_str()->check(above_zero);
  app.add_option("--batch-size", settings.batch_size, "Of all pipelines together")
      ->capture_default_str()
      ->check(above_zero);
  app.add_option("--steps", settings.steps, "Of the optimizer")->capture_default_str();
  app.add_option("--every", settings.every, "Steps from one report to the next")
      ->capture_default_str()
      ->check(above_zero);
  app.add_option("--lr", settings.lr, "Learning rate")->capture_default_str();
  app.add_option("--seed", settings.seed, "Of all random numbers")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }

  int exit_code = 1;
  try {
    train(settings);
    exit_code = 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "pipeline-cpp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pipeline-cpp: %s\n", error.what());
  }
  tandem::shutdown(std::chrono::seconds(10));
  return exit_code;
}
