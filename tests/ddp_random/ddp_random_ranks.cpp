// Runs specifications (specification.py draws them) with tandem::DistributedDataParallel, a forked process a rank, as
// python_ranks.py does with Python's: the same layers, formulas and steps.
//
//   ddp_random_ranks SPECIFICATIONS OUTCOMES [BACKEND]
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tandem/ddp.h"

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kWidth = 4;  // of what layers take and give
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kRows = 5;                    // of embeddings
constexpr std::chrono::seconds kTimeout(8);          // of a collective
constexpr std::chrono::seconds kPatience(60);        // for a whole specification
const char* const kCrashed = "crashed by a signal";  // never what Python's error is compared with
const char* const kHung = "hung";

// Values in [-0.5, 0.5) that both sides compute to the last bit.
at::Tensor number(const std::vector<std::int64_t>& shape, std::int64_t salt) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  const at::Tensor places = torch::arange(count, torch::kLong) * 37 + salt * 101 + 11;
  return ((places % 97).to(torch::kDouble) / 97 - 0.5).view(shape);
}

bool is_among(const json& places, int place) {
  return places.is_null() || std::find(places.begin(), places.end(), json(place)) != places.end();
}

struct Layer : torch::nn::Module {
  Layer(const json& spec, int index, int salt_of_rank, Layer* shared) : kind(spec["kind"]) {
    if (spec.contains("when")) when = spec["when"];
    const std::int64_t salt = index * 7 + salt_of_rank;
    if (kind == "linear") {
      hold(shared ? shared->weight : number({kWidth, kWidth}, salt), shared);
      if (spec["bias"]) {
        bias = shared ? shared->bias : number({kWidth}, salt + 1);
        bias = register_parameter("bias", bias, !shared || bias.requires_grad());
      }
    } else if (kind == "scale" || kind == "gives") {
      hold(number(spec.value("shape", std::vector<std::int64_t>{kWidth}), salt));
    } else if (kind == "conv") {
      const at::Tensor values = number({2, 2, 1, 3}, salt);
      hold(spec["channels_last"] ? values.contiguous(at::MemoryFormat::ChannelsLast) : values);
    } else if (kind == "single") {
      hold(number({kWidth, kWidth}, salt).to(torch::kFloat));
    } else if (kind == "complex") {
      hold(at::complex(number({kWidth}, salt), number({kWidth}, salt + 1)));
    } else if (kind == "table") {
      table = register_module("table",
                              torch::nn::Embedding(torch::nn::EmbeddingOptions(kRows, kWidth).sparse(spec["sparse"])));
      table->weight.set_data(number({kRows, kWidth}, salt));
    } else if (kind == "bag") {
      bag = register_module(
          "bag", torch::nn::EmbeddingBag(
                     torch::nn::EmbeddingBagOptions(kRows, kWidth).sparse(spec["sparse"]).mode(torch::kSum)));
      bag->weight.set_data(number({kRows, kWidth}, salt));
    } else if (kind == "mean") {
      buffer = register_buffer("mean", number({kWidth}, salt));
    } else if (kind == "count") {
      buffer = register_buffer("count", torch::tensor({salt}, torch::kLong));
    } else {
      throw std::invalid_argument("no such layer: " + kind);
    }
    if (spec.value("frozen", false)) {
      for (at::Tensor& parameter : parameters()) parameter.set_requires_grad(false);
    }
  }

  bool used(int rank, int step, int forward) const {
    if (when.is_null()) return true;
    return is_among(when["ranks"], rank) && is_among(when["steps"], step) && is_among(when["forwards"], forward) &&
           (when["parity"].is_null() || (rank + step) % 2 == when["parity"]);
  }

  at::Tensor forward(const at::Tensor& h, int place) {
    if (kind == "linear") {
      const at::Tensor product = h.matmul(weight.t());
      return torch::tanh(bias.defined() ? product + bias : product);
    }
    if (kind == "scale") return h * (1 + weight);
    if (kind == "conv") {
      return h + torch::conv2d(h.view({-1, 2, 1, 2}), weight, {}, 1, at::IntArrayRef({0, 1})).reshape({-1, kWidth});
    }
    if (kind == "single") return h + h.to(torch::kFloat).matmul(weight.t()).to(torch::kDouble);
    if (kind == "complex") {
      const at::Tensor z = h * weight;
      return h + torch::real(z) + torch::imag(z);
    }
    // Times 2: a sparse gradient must not share memory with that of h, which Python's reducer would divide as well.
    if (kind == "table") return h + 2 * table((torch::arange(h.size(0), torch::kLong) * 3 + place) % kRows);
    if (kind == "bag") {
      return h + 2 * bag(((torch::arange(h.size(0) * 2, torch::kLong) * 3 + place) % kRows).view({-1, 2}));
    }
    if (kind == "mean") {
      if (is_training()) buffer.mul_(0.9).add_(h.detach().mean(0), 0.1);
      return h - buffer;
    }
    if (is_training()) buffer.add_(1 + place);
    return h + 0.01 * buffer;
  }

  const std::string kind;
  at::Tensor weight;

 private:
  void hold(const at::Tensor& values, bool shared = false) {
    weight = register_parameter("weight", values, !shared || values.requires_grad());
  }

  json when;
  at::Tensor bias, buffer;
  torch::nn::Embedding table{nullptr};
  torch::nn::EmbeddingBag bag{nullptr};
};

struct ModelImpl : torch::nn::Module {
  ModelImpl(const json& spec, int rank) : outputs(spec["outputs"].get<std::set<int>>()), rank(rank) {
    int index = 0;
    for (const json& layer : spec["layers"]) {
      Layer* const shared = layer.contains("shares") ? layers[layer["shares"].get<int>()].get() : nullptr;
      const int salt = spec["initial_by_rank"] ? rank * 13 : 0;
      layers.push_back(
          register_module("layer" + std::to_string(index), std::make_shared<Layer>(layer, index, salt, shared)));
      ++index;
    }
  }

  std::vector<at::Tensor> forward(at::Tensor h, int step, int forward) {
    std::vector<at::Tensor> found;
    const int place = rank * 2 + step + forward;
    for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
      Layer& layer = *layers[i];
      if (layer.used(rank, step, forward)) {
        if (layer.kind == "gives") {
          found.push_back(layer.weight);
          continue;
        }
        h = layer.forward(h, place);
      }
      if (outputs.count(i)) found.push_back(h);
    }
    found.push_back(h);
    return found;
  }

  const std::set<int> outputs;
  const int rank;
  std::vector<std::shared_ptr<Layer>> layers;
};
TORCH_MODULE(Model);

tandem::DataParallelOptions options_of(const json& spec) {
  const json& given = spec["options"];
  tandem::DataParallelOptions options;
  if (!given["bucket_cap_mb"].is_null()) options.bucket_cap_mb = given["bucket_cap_mb"];
  options.find_unused_parameters = given["find_unused_parameters"];
  options.gradient_as_bucket_view = given["gradient_as_bucket_view"];
  options.static_graph = given["static_graph"];
  options.broadcast_buffers = given["broadcast_buffers"];
  options.init_sync = given["init_sync"];
  options.skip_all_reduce_unused_params = given["skip_all_reduce_unused_params"];
  options.parameters_to_ignore = spec["ignores"].get<std::vector<std::string>>();
  return options;
}

// The specification as it is on this rank.
json made_different(json spec, int rank) {
  const json& different = spec["differs"];
  if (different.is_null() || different["rank"] != rank) return spec;
  json& last = spec["layers"].back();
  if (different["what"] == "shape") {
    last["shape"] = {kWidth + 1};
  } else if (different["what"] == "strides") {
    last["channels_last"] = true;
  } else {
    spec["layers"].push_back({{"kind", "scale"}});
  }
  return spec;
}

class Rank {
 public:
  Rank(json specification, int rank, const std::filesystem::path& folder, const std::string& backend)
      : spec_(made_different(std::move(specification), rank)), rank_(rank), folder_(folder), backend_(backend) {}

  void train() {
    tandem::ProcessGroupOptions options;
    options.backend = backend_;
    options.rank = rank_;
    options.world_size = spec_["ranks"];
    options.timeout = kTimeout;
    const auto group = tandem::ProcessGroup::create(options, tandem::file_store(folder_ / "store"));
    phase_ = "construct";
    model_ = Model(spec_, rank_);
    ddp_.emplace(model_, group, options_of(spec_));
    if (spec_["hook"] == "allreduce") ddp_->reducer().register_comm_hook(tandem::allreduce_hook(group));
    if (spec_["hook"] == "fp16") ddp_->reducer().register_comm_hook(tandem::fp16_compress_hook(group));
    if (spec_["optimizer_in_backward"]) {
      std::vector<at::Tensor> trained;
      for (const auto& [name, parameter] : each_once(model_->named_parameters())) {
        if (parameter.requires_grad()) trained.push_back(parameter);
      }
      ddp_->reducer().set_optimizer_in_backward(
          tandem::optim::make_optimizer("SGD", trained, {{"lr", {spec_["rate"].get<double>()}}}));
    }
    const json& join = spec_["join"];
    const int steps = join.is_null() ? static_cast<int>(spec_["steps"]) : join["batches"][rank_].get<int>();
    const auto body = [&] {
      for (int i = 0; i < steps; ++i) step(i, spec_["program"][i]);
      phase_ = "the end of join";
    };
    if (join.is_null()) {
      body();
    } else {
      tandem::JoinOptions join_options;
      join_options.divide_by_initial_world_size = join["divide_by_initial_world_size"];
      join_options.throw_on_early_termination = join["throw_on_early_termination"];
      ddp_->join(body, join_options);
    }
    forward(spec_["steps"], 0);  // tells whether the last backward was whole
    phase_ = "the end";
    group->barrier();
  }

  const std::string& phase() const { return phase_; }

  json tensors() {
    json found;
    for (const auto& list : {model_->named_parameters(), model_->named_buffers()}) {
      for (const auto& [name, tensor] : each_once(list)) {
        const at::Tensor real = tensor.is_complex() ? torch::view_as_real(tensor) : tensor;
        const at::Tensor flat = real.detach().to(torch::kDouble).flatten().contiguous();
        found[name] = std::vector<double>(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
      }
    }
    return found;
  }

 private:
  using Named = std::vector<std::pair<std::string, at::Tensor>>;

  static Named each_once(const torch::OrderedDict<std::string, at::Tensor>& all) {
    std::set<const c10::TensorImpl*> seen;
    Named found;
    for (const auto& item : all) {
      if (seen.insert(item.value().unsafeGetTensorImpl()).second) found.emplace_back(item.key(), item.value());
    }
    return found;
  }

  at::Tensor forward(int step, int forward, int micro = 0) {
    phase_ = "step " + std::to_string(step) + ", forward " + std::to_string(forward);
    const at::Tensor x = number({kBatch, kWidth}, 1000 + rank_ * 31 + step * 17 + forward * 5 + micro * 3);
    const std::vector<at::Tensor> outputs = ddp_->forward(x, step, forward);
    at::Tensor loss = torch::zeros({}, torch::kDouble);
    for (std::size_t i = spec_["loss_uses"] == "all" ? 0 : outputs.size() - 1; i < outputs.size(); ++i) {
      loss = loss + outputs[i].pow(2).mean();
    }
    return loss;
  }

  void backward(at::Tensor loss, int step) {
    if (!spec_["penalty"].is_null()) {
      loss = loss + model_->layers[spec_["penalty"].get<int>()]->weight.pow(2).sum();
    }
    phase_ = "step " + std::to_string(step) + ", backward";
    loss.backward();
  }

  void step(int step, const json& plan) {
    for (const json& event : spec_["events"]) {
      if (event["step"] != step) continue;
      for (at::Tensor& parameter : model_->layers[event["layer"].get<int>()]->parameters()) {
        parameter.set_requires_grad(event["requires_grad"]);
      }
    }
    const Named parameters = each_once(model_->named_parameters());
    for (const auto& [name, parameter] : parameters) {
      if (spec_["zero_grad"] == "none") parameter.mutable_grad().reset();
      if (spec_["zero_grad"] == "zeros" && parameter.grad().defined()) parameter.mutable_grad().zero_();
    }
    if (plan["before"] == "evaluate") {
      const torch::NoGradGuard no_grad;
      ddp_->module()->eval();
      forward(step, 0);
      ddp_->module()->train();
    } else if (plan["before"] == "idle") {
      forward(step, 0);
    }
    for (int micro = 0; micro < plan["accumulate"]; ++micro) {
      const auto no_sync = ddp_->no_sync();
      backward(forward(step, 0, micro + 1), step);
    }
    at::Tensor loss = torch::zeros({}, torch::kDouble);
    for (int i = 0; i < plan["forwards"]; ++i) loss = loss + forward(step, i);
    backward(loss, step);
    const torch::NoGradGuard no_grad;
    for (const auto& [name, parameter] : parameters) {
      if (parameter.grad().defined()) parameter.add_(parameter.grad(), -spec_["rate"].get<double>());
    }
  }

  const json spec_;
  const int rank_;
  const std::filesystem::path folder_;
  const std::string backend_;
  std::string phase_ = "the process group";
  Model model_{nullptr};
  std::optional<tandem::DistributedDataParallel<Model>> ddp_;
};

// In the rank's own process, which ends with it, at once: peers that wait for it learn of it by its closed connections.
[[noreturn]] void run_rank(const json& spec, int rank, const std::filesystem::path& folder,
                           const std::string& backend) {
  if (!std::getenv("DDP_RANDOM_TRACE")) ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);  // warnings
  at::set_num_threads(1);
  json outcome;
  Rank this_rank(spec, rank, folder, backend);
  try {
    this_rank.train();
    outcome["tensors"] = this_rank.tensors();
  } catch (const std::exception& error) {
    outcome["error"] = this_rank.phase() + ": " + error.what();
  }
  const std::filesystem::path path = folder / (std::to_string(rank) + ".json");
  std::ofstream(path.string() + ".part") << outcome;
  std::filesystem::rename(path.string() + ".part", path);
  ::_exit(0);
}

// Why the process ended without an outcome; empty when it ended by itself.
std::string wait_for(pid_t child, Clock::time_point deadline) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return kHung;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFSIGNALED(status) ? std::string(kCrashed) + " (" + ::strsignal(WTERMSIG(status)) + ")" : "";
}

json run(const json& spec, const std::string& backend) {
  std::string name = (std::filesystem::temp_directory_path() / "ddp_random.XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
  const std::filesystem::path folder = name;
  std::vector<pid_t> children;
  for (int rank = 0; rank < spec["ranks"]; ++rank) {
    // Nothing was computed in this process, which therefore has no threads.
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot fork");
    if (child == 0) run_rank(spec, rank, folder, backend);
    children.push_back(child);
  }
  const auto deadline = Clock::now() + kPatience;
  json tensors = json::array(), errors = json::array();
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    json outcome;
    if (const std::string why = wait_for(children[rank], deadline); !why.empty()) outcome["error"] = why;
    std::ifstream file(folder / (std::to_string(rank) + ".json"));
    if (outcome.is_null() && file) outcome = json::parse(file);
    if (outcome.is_null()) outcome["error"] = "ended without an outcome";
    tensors.push_back(outcome.value("tensors", json()));
    errors.push_back(outcome.value("error", json()));
  }
  std::filesystem::remove_all(folder);
  const bool failed = std::any_of(errors.begin(), errors.end(), [](const json& error) { return !error.is_null(); });
  return failed ? json{{"errors", errors}} : json{{"tensors", tensors}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: ddp_random_ranks SPECIFICATIONS OUTCOMES [BACKEND]\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  json outcomes = json::array();
  for (const json& spec : json::parse(in)) outcomes.push_back(run(spec, argc > 3 ? argv[3] : "gloo"));
  std::ofstream(argv[2]) << outcomes;
  return 0;
}
