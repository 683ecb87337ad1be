// Trains a convolutional network on handwritten digits, on one process or many:
//
//   tandem run -n 2 -- mnist-cpp --data FOLDER --epochs 5 --output results
//
// FOLDER holds MNIST's IDX files, plain or .gz, or train.recordio and test.recordio.
#include <tandem/checkpoint.h>
#include <tandem/ddp.h>
#include <tandem/error.h>
#include <tandem/launch_place.h>
#include <tandem/loader.h>
#include <tandem/match_tensors.h>
#include <tandem/optim.h>
#include <tandem/process_group.h>
#include <tandem/runtime.h>
#include <tandem/sample_order.h>
#include <tandem/store.h>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "digits.h"
#include "pictures.h"
#include "progress.h"

struct Settings {
  std::string data, backend, device = "cpu", checkpoints, output = ".", work;
  int epochs = 5;
  std::int64_t batch_size = 64;
  double lr = 0.05;
  std::uint64_t seed = 1;
};

// A small convolutional network for digits of 28 × 28 pixels.
struct NetImpl : torch::nn::Module {
  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 32, 3)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(32, 64, 3)};
  torch::nn::Dropout dropout{0.25};
  torch::nn::Linear fc1{64 * 12 * 12, 128};
  torch::nn::Linear fc2{128, 10};

  NetImpl() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("dropout", dropout);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  // Images [batch, 1, 28, 28] to a score for each digit [batch, 10].
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(conv1(x));
    x = torch::relu(conv2(x));
    x = dropout(torch::max_pool2d(x, 2));
    x = torch::relu(fc1(x.flatten(1)));
    return fc2(x);
  }
};
TORCH_MODULE(Net);

class Training {
 public:
  explicit Training(const Settings& settings);
  // Returns the program's exit code.
  int run();

 private:
  std::unique_ptr<tandem::DataLoader> open(const std::string& path, bool shuffle) const;
  // The mean loss over all ranks.
  double train_epoch(int epoch);
  // Per cent of the test digits that are told right, by all ranks together.
  double test();
  void save(int epochs_done);
  // The epochs that the newest checkpoint has seen.
  int resume();
  void draw();
  bool parameters_are_equal() const;
  torch::Tensor sum_over_ranks(double value) const;

  const Settings& settings_;
  const torch::Device device_;
  std::shared_ptr<tandem::ProcessGroup> group_;
  std::unique_ptr<tandem::DataLoader> train_, test_;
  Net net_{nullptr};
  std::unique_ptr<tandem::DistributedDataParallel<Net>> model_;
  std::unique_ptr<tandem::optim::Optimizer> optimizer_;
  std::unique_ptr<tandem::CheckpointFolder> checkpoints_;
  Curve curve_;
};

int local_rank() {
  return std::max(tandem::launch_place().local_rank, 0);
}

torch::Device device_of(const Settings& settings) {
  if (settings.device == "cpu") return torch::kCPU;
  tandem::load_cuda();
  return torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(local_rank()));
}

// With the ranks that a launcher started, or alone.
std::shared_ptr<tandem::ProcessGroup> group_of(tandem::ProcessGroupOptions options) {
  if (!tandem::launch_place().launcher.empty()) return tandem::ProcessGroup::create(options);
  options.rank = 0;
  options.world_size = 1;
  return tandem::ProcessGroup::create(options, tandem::hash_store());
}

Training::Training(const Settings& settings) : settings_(settings), device_(device_of(settings)) {
  tandem::ProcessGroupOptions options;
  options.backend = !settings.backend.empty() ? settings.backend : device_.is_cuda() ? "nccl" : "gloo";
  options.device = device_;
  group_ = group_of(options);

  const std::string work = settings.work.empty() ? settings.output + "/recordio" : settings.work;
  const DigitFiles files = find_digits(settings.data, work, local_rank() == 0, [this] { group_->barrier(); });
  train_ = open(files.train, true);
  test_ = open(files.test, false);

  torch::manual_seed(settings.seed + static_cast<std::uint64_t>(group_->rank()));
  net_ = Net();
  net_->to(device_);
  tandem::DataParallelOptions parallel;
  parallel.gradient_as_bucket_view = true;
  // Takes rank 0's parameters on all ranks.
  model_ = std::make_unique<tandem::DistributedDataParallel<Net>>(net_, group_, parallel);
  optimizer_ = tandem::optim::make_optimizer("SGD", net_->parameters(), {{"lr", settings.lr}, {"momentum", 0.9}});
  if (!settings.checkpoints.empty()) {
    checkpoints_ = std::make_unique<tandem::CheckpointFolder>(settings.checkpoints,
                                                              tandem::CheckpointOptions{.group = group_});
  }
}

std::unique_ptr<tandem::DataLoader> Training::open(const std::string& path, bool shuffle) const {
  const std::vector<tandem::RecordField> fields = {
      {"label", torch::kByte, {}, torch::kLong},
      {"image", torch::kByte, {1, 28, 28}, torch::kFloat, 0.1307, 0.3081, 1 / 255.0},
  };
  tandem::LoaderOptions options;
  options.batch_size = settings_.batch_size;
  options.per_rank = true;
  options.rank = group_->rank();
  options.world_size = group_->size();
  options.shuffle = shuffle;
  options.seed = settings_.seed;
  options.tail = shuffle ? tandem::Tail::kDrop : tandem::Tail::kShort;
  return std::make_unique<tandem::DataLoader>(tandem::record_dataset({path}, fields), options);
}

double Training::train_epoch(int epoch) {
  const std::string title = "epoch " + std::to_string(epoch + 1) + "/" + std::to_string(settings_.epochs);
  Progress progress(title, train_->batch_count(), group_->rank() == 0);
  std::vector<torch::Tensor> losses;
  optimizer_->set_option({"lr", settings_.lr * std::pow(0.7, epoch)});
  net_->train();
  train_->start_epoch(epoch);
  while (auto batch = train_->next()) {
    const torch::Tensor labels = (*batch)[0].to(device_);
    const torch::Tensor images = (*batch)[1].to(device_);
    optimizer_->zero_grad();
    const torch::Tensor loss = torch::cross_entropy_loss(model_->forward(images), labels);
    loss.backward();
    optimizer_->step();
    losses.push_back(loss.detach());
    progress.step(labels.numel() * group_->size());
    if (progress.due()) {
      char text[32];
      std::snprintf(text, sizeof text, "loss %.3f", loss.item<double>());
      progress.show(text);
    }
  }
  if (losses.empty()) {
    throw tandem::Error(tandem::ErrorCode::kInvalidArgument,
                        "the " + std::to_string(train_->sample_count()) + " training digits do not fill one batch of " +
                            std::to_string(settings_.batch_size) + " for each of " + std::to_string(group_->size()) +
                            " ranks; choose a smaller --batch-size");
  }
  const torch::Tensor values = torch::stack(losses).to(torch::kCPU, torch::kDouble);
  const auto* first = values.const_data_ptr<double>();
  curve_.losses.insert(curve_.losses.end(), first, first + values.numel());
  const double mean = sum_over_ranks(values.mean().item<double>()).item<double>() / group_->size();
  if (!std::isfinite(mean)) {
    throw tandem::Error(tandem::ErrorCode::kInvalidArgument,
                        "the loss is no longer a number; choose a smaller --lr than " + std::to_string(settings_.lr));
  }
  return mean;
}

double Training::test() {
  torch::NoGradGuard no_grad;
  net_->eval();
  std::int64_t right = 0;
  for (const auto& batch : test_->epoch(0)) {
    if (batch.rows == 0) continue;  // the last one may be too small for all ranks
    const torch::Tensor predicted = net_->forward(batch["image"].to(device_)).argmax(1).cpu();
    right += predicted.eq(batch["label"]).sum().item<std::int64_t>();
  }
  const double all = sum_over_ranks(static_cast<double>(right)).item<double>();
  return 100 * all / static_cast<double>(std::max<std::int64_t>(test_->sample_count(), 1));
}

torch::Tensor Training::sum_over_ranks(double value) const {
  const torch::Tensor sum = torch::full({}, value, torch::TensorOptions(torch::kDouble).device(device_));
  group_->all_reduce(sum);
  return sum;
}

void Training::save(int epochs_done) {
  if (!checkpoints_) return;
  tandem::CheckpointContent content;
  for (const auto& item : net_->named_parameters()) {
    content.replicated["model"].emplace_back(item.key(), item.value());
  }
  content.replicated["optimizer"] = optimizer_->state();
  checkpoints_->save_async(epochs_done, content);
}

int Training::resume() {
  if (!checkpoints_) return 0;
  const auto last = checkpoints_->load({.sections = {"model", "optimizer"}});
  if (!last) return 0;
  for (const std::string& why : last->refused) {
    if (group_->rank() == 0) std::printf("not used: %s\n", why.c_str());
  }
  tandem::NamedTensors weights;
  for (auto& item : net_->named_parameters()) weights.emplace_back(item.key(), item.value());
  tandem::load_tensors(weights, last->sections.at("model"));
  optimizer_->load_state(last->sections.at("optimizer"));
  return static_cast<int>(last->step);
}

void Training::draw() {
  if (group_->rank() != 0) return;
  std::filesystem::create_directories(settings_.output);
  draw_curve(settings_.output + "/curve.png", curve_);
  torch::NoGradGuard no_grad;
  net_->eval();
  test_->start_epoch(0);
  const auto batch = test_->next();
  if (!batch) return;
  const torch::Tensor& labels = (*batch)[0];
  const torch::Tensor& images = (*batch)[1];
  const torch::Tensor predicted = net_->forward(images.to(device_)).argmax(1).cpu();
  const auto size = static_cast<std::size_t>(labels.numel());
  draw_digits(settings_.output + "/digits.png", {images.const_data_ptr<float>(), size * 28 * 28},
              {predicted.const_data_ptr<std::int64_t>(), size}, {labels.const_data_ptr<std::int64_t>(), size});
}

// Prints a hash of the parameters, which all ranks must have in common.
bool Training::parameters_are_equal() const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const auto& parameter : net_->parameters()) {
    const torch::Tensor values = parameter.detach().cpu().contiguous();
    const auto* bytes = static_cast<const unsigned char*>(values.const_data_ptr());
    for (std::size_t i = 0; i < values.nbytes(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  }
  const auto options = torch::TensorOptions(torch::kLong).device(device_);
  const torch::Tensor own = torch::full({1}, static_cast<std::int64_t>(hash), options);
  std::vector<torch::Tensor> all;
  for (int rank = 0; rank < group_->size(); ++rank) all.push_back(torch::empty_like(own));
  group_->all_gather(all, own);
  for (int rank = 0; rank < group_->size(); ++rank) {
    const auto other = static_cast<std::uint64_t>(all[static_cast<std::size_t>(rank)].item<std::int64_t>());
    if (other == hash) continue;
    std::fprintf(stderr, "parameters: %016lx on rank %d, but %016lx on rank %d\n", hash, group_->rank(), other, rank);
    return false;
  }
  if (group_->rank() == 0) std::printf("parameters: %016lx, equal on all %d ranks\n", hash, group_->size());
  return true;
}

int Training::run() {
  for (int epoch = resume(); epoch < settings_.epochs; ++epoch) {
    const double loss = train_epoch(epoch);
    const double accuracy = test();
    curve_.accuracies.emplace_back(curve_.losses.size(), accuracy);
    if (group_->rank() == 0) {
      std::printf("epoch %d/%d: loss %.3f, test accuracy %.2f %%\n", epoch + 1, settings_.epochs, loss, accuracy);
      std::fflush(stdout);
    }
    save(epoch + 1);
  }
  if (checkpoints_) checkpoints_->wait();
  draw();
  return parameters_are_equal() ? 0 : 1;
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a convolutional network on handwritten digits", "mnist-cpp");
  app.add_option("--data", settings.data, "Folder with IDX or RecordIO files")->required();
  app.add_option("--epochs", settings.epochs, "Passes over the training data")->capture_default_str();
  app.add_option("--batch-size", settings.batch_size, "Samples a step, of each rank")->capture_default_str();
  app.add_option("--lr", settings.lr, "Learning rate; each epoch takes 0.7 of the one before")->capture_default_str();
  app.add_option("--backend", settings.backend, "gloo or nccl; by default what suits the device");
  app.add_option("--device", settings.device, "cpu, or cuda: the GPU of the rank's number on its machine")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--checkpoints", settings.checkpoints,
                 "Folder for a checkpoint after each epoch; goes on from the newest one in it");
  app.add_option("--seed", settings.seed, "Of the first weights, dropout and the order of samples")
      ->capture_default_str();
  app.add_option("--output", settings.output, "Folder for curve.png and digits.png")->capture_default_str();
  app.add_option("--work", settings.work, "Folder for converted data; by default recordio in the output folder");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }

  int exit_code = 1;
  try {
    Training training(settings);
    exit_code = training.run();
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "mnist-cpp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist-cpp: %s\n", error.what());
  }
  tandem::shutdown(std::chrono::seconds(10));
  return exit_code;
}
