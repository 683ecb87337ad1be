// Trains a convolutional network on handwritten digits whose convolutions lie on one device and whose linear layers on
// another, in one process or, data-parallel, in many:
//
//   modelparallel-cpp --data FOLDER --devices cuda:0,cpu
//   tandem run -n 2 -- modelparallel-cpp --data FOLDER --devices cpu,cpu
//
// FOLDER holds MNIST's IDX files, plain or .gz, or train.recordio and test.recordio.
#include <tandem/ddp.h>
#include <tandem/error.h>
#include <tandem/launch_place.h>
#include <tandem/loader.h>
#include <tandem/optim.h>
#include <tandem/process_group.h>
#include <tandem/runtime.h>
#include <tandem/store.h>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "digits.h"

struct Settings {
  std::string data, output = ".";
  std::vector<std::string> devices = {"cpu", "cpu"};
  int epochs = 3;
  std::int64_t batch_size = 64;
  double lr = 0.05;
  std::uint64_t seed = 1;
};

// A network that is cut in two.
struct NetImpl : torch::nn::Module {
  torch::nn::Sequential front{torch::nn::Conv2d(1, 16, 3),  torch::nn::ReLU(), torch::nn::MaxPool2d(2),
                              torch::nn::Conv2d(16, 32, 3), torch::nn::ReLU(), torch::nn::MaxPool2d(2)};
  torch::nn::Sequential back{torch::nn::Flatten(), torch::nn::Linear(32 * 5 * 5, 128), torch::nn::ReLU(),
                             torch::nn::Linear(128, 10)};
  torch::Device front_device, back_device;

  NetImpl(torch::Device front_is_on, torch::Device back_is_on) : front_device(front_is_on), back_device(back_is_on) {
    register_module("front", front)->to(front_device);
    register_module("back", back)->to(back_device);
  }

  // Images [batch, 1, 28, 28], on any device, to a score for each digit [batch, 10] on the second. Backward takes the
  // same way, so that each layer's gradient is on the layer's device.
  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor features = front->forward(images.to(front_device));
    return back->forward(features.to(back_device));
  }
};
TORCH_MODULE(Net);

int local_rank() {
  return std::max(tandem::launch_place().local_rank, 0);
}

// With the ranks that a launcher started, or alone. Of the backends, gloo exchanges gradients on GPUs and on the CPU alike.
std::shared_ptr<tandem::ProcessGroup> make_group() {
  tandem::ProcessGroupOptions options;
  options.backend = "gloo";
  if (!tandem::launch_place().launcher.empty()) return tandem::ProcessGroup::create(options);
  options.rank = 0;
  options.world_size = 1;
  return tandem::ProcessGroup::create(options, tandem::hash_store());
}

std::unique_ptr<tandem::DataLoader> open(const std::string& path, const Settings& settings, int rank, int ranks,
                                         tandem::Tail tail) {
  const std::vector<tandem::RecordField> fields = {
      {"label", torch::kByte, {}, torch::kLong},
      {"image", torch::kByte, {1, 28, 28}, torch::kFloat, 0.1307, 0.3081, 1 / 255.0},
  };
  tandem::LoaderOptions options;
  options.batch_size = settings.batch_size;
  options.per_rank = true;
  options.rank = rank;
  options.world_size = ranks;
  options.seed = settings.seed;
  options.tail = tail;
  return std::make_unique<tandem::DataLoader>(tandem::record_dataset({path}, fields), options);
}

// Per cent of the test digits that are told right.
double evaluate(Net& net, tandem::DataLoader& test) {
  const torch::NoGradGuard no_grad;
  std::int64_t right = 0;
  for (const auto& batch : test.epoch(0)) {
    if (batch.rows == 0) continue;
    right += net->forward(batch["image"]).argmax(1).cpu().eq(batch["label"]).sum().item<std::int64_t>();
  }
  return 100 * static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(test.sample_count(), 1));
}

// GPUs' numbers are those of a host's first process; each further one takes as many more, and begins anew where the host has
// no more.
std::vector<torch::Device> parse(const std::vector<std::string>& names) {
  std::vector<torch::Device> devices;
  int per_process = 0;
  for (const std::string& name : names) {
    torch::Device device(name);
    if (device.is_cuda()) {
      device.set_index(std::max<torch::DeviceIndex>(device.index(), 0));
      per_process = std::max(per_process, device.index() + 1);
    }
    devices.push_back(device);
  }
  if (per_process == 0) return devices;
  tandem::load_cuda();
  const int count = static_cast<int>(torch::cuda::device_count());
  if (per_process > count) {
    throw std::invalid_argument("--devices takes " + std::to_string(per_process) + " GPUs, this host has " +
                                std::to_string(count));
  }
  for (torch::Device& device : devices) {
    if (!device.is_cuda()) continue;
    device.set_index(static_cast<torch::DeviceIndex>((device.index() + local_rank() * per_process) % count));
  }
  return devices;
}

void train(const Settings& settings) {
  const std::vector<torch::Device> devices = parse(settings.devices);
  const auto group = make_group();
  const DigitFiles files =
      find_digits(settings.data, settings.output + "/recordio", local_rank() == 0, [&] { group->barrier(); });
  const auto digits = open(files.train, settings, group->rank(), group->size(), tandem::Tail::kDrop);
  const auto test = open(files.test, settings, 0, 1, tandem::Tail::kShort);

  torch::manual_seed(settings.seed);
  Net net(devices[0], devices[1]);
  tandem::DistributedDataParallel<Net> model(net, group);  // over parameters of both devices
  const auto optimizer =
      tandem::optim::make_optimizer("SGD", net->parameters(), {{"lr", settings.lr}, {"momentum", 0.9}});
  for (int epoch = 0; epoch < settings.epochs; ++epoch) {
    double total = 0;
    for (const auto& batch : digits->epoch(epoch)) {
      optimizer->zero_grad();
      const torch::Tensor scores = model.forward(batch["image"]);
      const torch::Tensor loss = torch::cross_entropy_loss(scores, batch["label"].to(scores.device()));
      loss.backward();
      optimizer->step();
      total += loss.item<double>();
    }
    const double accuracy = evaluate(net, *test);
    if (group->rank() != 0) continue;
    std::printf("epoch %d/%d: loss %.3f, test accuracy %.2f %%\n", epoch + 1, settings.epochs,
                total / static_cast<double>(std::max<std::int64_t>(digits->batch_count(), 1)), accuracy);
    std::fflush(stdout);
  }
  if (group->rank() != 0) return;
  for (const auto& item : net->named_parameters()) {
    std::printf("%s: on %s, its gradient on %s\n", item.key().c_str(), item.value().device().str().c_str(),
                item.value().grad().device().str().c_str());
  }
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a network whose layers lie on two devices on handwritten digits", "modelparallel-cpp");
  app.add_option("--data", settings.data, "Folder with IDX or RecordIO files")->required();
  app.add_option("--devices", settings.devices, "Of the convolutions and of the linear layers, such as cuda:0,cpu")
      ->delimiter(',')
      ->expected(2)
      ->capture_default_str();
  app.add_option("--epochs", settings.epochs, "Passes over the training data")->capture_default_str();
  app.add_option("--batch-size", settings.batch_size, "Samples a step, of each rank")->capture_default_str();
  app.add_option("--lr", settings.lr, "Learning rate")->capture_default_str();
  app.add_option("--seed", settings.seed, "Of the first weights and the order of samples")->capture_default_str();
  app.add_option("--output", settings.output, "Folder for converted data")->capture_default_str();
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
    std::fprintf(stderr, "modelparallel-cpp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "modelparallel-cpp: %s\n", error.what());
  }
  tandem::shutdown(std::chrono::seconds(10));
  return exit_code;
}
