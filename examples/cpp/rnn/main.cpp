// Trains a language model of bytes whose parts are on two workers: an LSTM here, its large tables, the embedding and the
// scores, on another one, which is called; the gradients go through the calls, and each worker's optimizer steps its own
// parameters:
//
//   tandem run -n 2 -- rnn-cpp --data FILE
//
// One worker alone has both parts, calls itself, and trains the same model.
#include <tandem/dist_autograd.h>
#include <tandem/dist_optimizer.h>
#include <tandem/error.h>
#include <tandem/rpc.h>
#include <tandem/runtime.h>
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

struct Settings {
  std::string data;
  int steps = 400, every = 50;
  std::int64_t width = 64, length = 32, batch_size = 16;
  double lr = 5e-3;
  std::uint64_t seed = 1;
};

constexpr std::int64_t kValues = 256;  // of a byte

namespace rpc = tandem::rpc;

// The parts of the model that another worker calls.
struct TablesImpl : torch::nn::Module {
  explicit TablesImpl(std::int64_t width) {
    embed = register_module("embed", torch::nn::Embedding(kValues, width));
    score = register_module("score", torch::nn::Linear(width, kValues));
  }
  torch::nn::Embedding embed{nullptr};
  torch::nn::Linear score{nullptr};
};
TORCH_MODULE(Tables);

// Lets workers call them: with tensors, and for references to their parameters.
void register_functions(Tables tables) {
  rpc::register_function("embed", [tables](const rpc::Values& given) mutable {
    return at::IValue(tables->embed(given.at(0).toTensor()));
  });
  rpc::register_function("score", [tables](const rpc::Values& given) mutable {
    return at::IValue(tables->score(given.at(0).toTensor()));
  });
  rpc::register_function("parameters", [tables](const rpc::Values&) {
    std::vector<at::IValue> references;
    for (const at::Tensor& parameter : tables->parameters()) references.push_back(rpc::RRef(parameter).value());
    return at::IValue(c10::ivalue::Tuple::create(std::move(references)));
  });
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw tandem::Error(tandem::ErrorCode::kNotFound, "cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Windows of the text: bytes, and those that come next.
at::Tensor batch(const std::string& text, const Settings& settings, std::mt19937_64& random) {
  at::Tensor windows = torch::empty({settings.batch_size, settings.length + 1}, torch::kLong);
  auto* to = windows.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < settings.batch_size; ++row) {
    const std::size_t begin = random() % (text.size() - static_cast<std::size_t>(settings.length));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(settings.length); ++i) {
      *to++ = static_cast<unsigned char>(text[begin + i]);
    }
  }
  return windows;
}

// Has the LSTM, and calls the worker that has the tables.
void train(const Settings& settings, const std::string& text, const std::string& tables) {
  torch::manual_seed(settings.seed + 1);
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(settings.width, settings.width).batch_first(true));
  std::vector<rpc::RRef> parameters;
  const at::IValue theirs = rpc::rpc_sync(tables, "parameters");
  for (const at::IValue& one : theirs.toTupleRef().elements()) parameters.push_back(rpc::RRef::from(one));
  for (const at::Tensor& own : lstm->parameters()) parameters.emplace_back(at::IValue(own));
  rpc::DistributedOptimizer optimizer("Adam", parameters, {{"lr", settings.lr}});

  std::mt19937_64 random(settings.seed);
  double total = 0;
  for (int step = 1; step <= settings.steps; ++step) {
    const at::Tensor windows = batch(text, settings, random);
    const at::Tensor x = windows.narrow(1, 0, settings.length).contiguous(), y = windows.narrow(1, 1, settings.length);
    const rpc::AutogradContext pass;  // calls of this thread take part
    const at::Tensor embedded = rpc::rpc_sync(tables, "embed", {x}).toTensor();
    const at::Tensor hidden = std::get<0>(lstm(embedded));
    const at::Tensor scores = rpc::rpc_sync(tables, "score", {hidden}).toTensor();
    const at::Tensor loss = torch::nn::functional::cross_entropy(scores.flatten(0, 1), y.flatten());
    pass.backward({loss});
    optimizer.step(pass.id());
    total += loss.item<double>();
    if (step % settings.every != 0) continue;
    std::printf("step %d/%d: %.4f bits per character\n", step, settings.steps, total / settings.every / std::log(2));
    std::fflush(stdout);
    total = 0;
  }
  std::printf("%lld calls of %s\n", static_cast<long long>(rpc::statistics()[tables].calls), tables.c_str());
}

void run(const Settings& settings) {
  const std::string text = read(settings.data);
  if (text.size() <= static_cast<std::size_t>(settings.length)) {
    throw tandem::Error(tandem::ErrorCode::kInvalidArgument, "the text must be longer than --length");
  }
  torch::manual_seed(settings.seed);
  register_functions(Tables(settings.width));  // before others may call
  const char* rank = std::getenv("RANK");
  rpc::init("worker" + std::string(rank ? rank : "0"));
  try {
    if (rpc::self().id == 0) train(settings, text, rpc::workers().back().name);
  } catch (...) {
    rpc::shutdown(/*graceful=*/false);
    throw;
  }
  rpc::shutdown();
}

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Trains a language model whose parts are on two workers on a text", "rnn-cpp");
  const auto above_zero = CLI::Range(1, 1 << 20);
  app.add_option("--data", settings.data, "File with a text")->required();
  app.add_option("--width", settings.width, "Of the embedding and the LSTM")->capture_default_str()->check(above_zero);
  app.add_option("--length", settings.length, "Bytes that the model sees")->capture_default_str()->check(above_zero);
  app.add_option("--batch-size", settings.batch_size, "Windows of a batch")->capture_default_str()->check(above_zero);
  app.add_option("--steps", settings.steps, "Of the optimizer")->capture_default_str()->check(above_zero);
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
    run(settings);
    exit_code = 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "rnn-cpp: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rnn-cpp: %s\n", error.what());
  }
  tandem::shutdown(std::chrono::seconds(10));
  return exit_code;
}
