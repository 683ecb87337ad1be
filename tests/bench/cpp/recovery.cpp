// Our side of `recovery`:
//
//   bench-recovery train             trains elastically until it is ended
//   bench-recovery commit MB         seconds of a commit, and of memcpy of the same bytes
//   bench-recovery steps N           what Context::step() adds to a step, in microseconds
//   bench-recovery report N          what report_metrics() takes, in microseconds (of `op-overhead`)
//
// train writes FOLDER/steps-PID in the folder BENCH_OUT: "started TIME", then "RANK WORLD STEP TIME" for each step that it has
// completed. The others write rank-0.json there.
#include <sys/types.h>
#include <tandem/ddp.h>
#include <tandem/elastic.h>
#include <tandem/metrics.h>
#include <tandem/runtime.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string folder() {
  const char* text = std::getenv("BENCH_OUT");
  if (!text) throw std::runtime_error("BENCH_OUT names no folder");
  return text;
}

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first{784, 256}, second{256, 10};
  NetImpl() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(torch::Tensor x) { return second(torch::relu(first(x))); }
};
TORCH_MODULE(Net);

void train() {
  std::ofstream out(folder() + "/steps-" + std::to_string(getpid()));
  out << std::fixed << std::setprecision(6) << "started " << now() << std::endl;
  torch::manual_seed(1);
  Net net;
  const auto optimizer =
      tandem::optim::make_optimizer("SGD", net->parameters(), {{"lr", 0.01}, {"momentum", 0.9}});
  const torch::Tensor images = torch::rand({32, 784}), labels = torch::randint(10, {32});
  tandem::elastic::State state;
  state.module("model", *net).optimizer("optimizer", *optimizer);
  tandem::elastic::Options options;
  options.group.backend = "gloo";  // as the peer
  tandem::elastic::run(
      state,
      [&](tandem::elastic::Context& context) {
        tandem::DistributedDataParallel<Net> model(net, context.group());
        for (;;) {
          optimizer->zero_grad();
          torch::cross_entropy_loss(model.forward(images), labels).backward();
          optimizer->step();
          out << context.rank() << ' ' << context.size() << ' ' << context.steps() + 1 << ' ' << now() << std::endl;
          context.step();
        }
      },
      options);
}

void report(const std::string& members) { std::ofstream(folder() + "/rank-0.json") << "{" << members << "}"; }

void commit(std::int64_t megabytes) {
  constexpr int kTensors = 64;
  tandem::elastic::Session session({});
  tandem::CheckpointContent content;
  for (int i = 0; i < kTensors; ++i) {
    content.replicated["model"].emplace_back(std::to_string(i), torch::rand({megabytes * 1'000'000 / kTensors / 4}));
  }
  session.commit(content);  // memory for it
  std::vector<torch::Tensor> copies;
  for (const auto& item : content.replicated["model"]) copies.push_back(item.second.clone());
  double ours = 1e9, plain = 1e9;
  for (int round = 0; round < 10; ++round) {
    auto begin = Clock::now();
    session.commit(content);
    ours = std::min(ours, seconds_since(begin));
    begin = Clock::now();
    for (int i = 0; i < kTensors; ++i) {
      const torch::Tensor& from = content.replicated["model"][static_cast<std::size_t>(i)].second;
      std::memcpy(copies[static_cast<std::size_t>(i)].data_ptr(), from.const_data_ptr(), from.nbytes());
    }
    plain = std::min(plain, seconds_since(begin));
  }
  report("\"commit\": " + std::to_string(ours) + ", \"memcpy\": " + std::to_string(plain));
}

void steps(std::int64_t count) {
  torch::Tensor number = torch::zeros({1});
  tandem::elastic::State state;
  state.tensors("model", [&] { return tandem::NamedTensors{{"number", number}}; });
  tandem::elastic::Options options;
  options.group.backend = "gloo";
  double seconds = 0;
  tandem::elastic::run(
      state,
      [&](tandem::elastic::Context& context) {
        const auto begin = Clock::now();
        for (std::int64_t i = 0; i < count; ++i) context.step();
        seconds = seconds_since(begin);
      },
      options);
  report("\"step_us\": " + std::to_string(seconds / static_cast<double>(count) * 1e6));
}

void reports(std::int64_t count) {
  const auto some = [](std::int64_t number) {
    for (std::int64_t i = 0; i < number; ++i) tandem::report_metrics({.samples = 64, .loss = static_cast<double>(i)});
  };
  some(count / 10);
  const auto begin = Clock::now();
  some(count);
  report("\"us\": " + std::to_string(seconds_since(begin) / static_cast<double>(count) * 1e6));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "train") {
      train();
    } else if (what == "commit" && argc == 3) {
      commit(std::stoll(argv[2]));
    } else if (what == "steps" && argc == 3) {
      steps(std::stoll(argv[2]));
    } else if (what == "report" && argc == 3) {
      reports(std::stoll(argv[2]));
    } else {
      std::cerr << "usage: bench-recovery train | commit MB | steps N | report N\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  tandem::shutdown(std::chrono::seconds(10));
}
