// A program that trains elastically, for tests to do harm to:
//
//   elastic_program FOLDER SETTING=VALUE…
//
// Writes FOLDER/trains once it has made a step, FOLDER/pid.<member>, FOLDER/step (the number of steps completed by any rank, as a line each) and, at its end,
// FOLDER/result.<rank> with its parameters to the bit. FAULTS=KIND@STEP/MEMBER,… does harm to itself: once each, by a
// file in FOLDER.
#include <signal.h>
#include <tandem/ddp.h>
#include <tandem/elastic.h>
#include <tandem/loader.h>
#include <tandem/metrics.h>
#include <tandem/optim.h>
#include <tandem/runtime.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr std::int64_t kSamples = 120, kBatch = 12;

class Points : public tandem::Dataset {
 public:
  std::int64_t size() const override { return kSamples; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (i == bad) throw tandem::Error(tandem::ErrorCode::kDataLoss, "its bytes are damaged");
    const at::Tensor place = torch::arange(4, torch::kDouble) + static_cast<double>(i);
    return {torch::sin(place), torch::cos(place.sum()).reshape({1})};
  }
  std::int64_t bad = -1;
};

struct NetImpl : torch::nn::Module {
  torch::nn::Linear first{4, 16}, second{16, 1};
  torch::nn::Dropout dropout{0.0};
  NetImpl() {
    register_module("first", first);
    register_module("dropout", dropout);
    register_module("second", second);
    to(torch::kDouble);
  }
  torch::Tensor forward(torch::Tensor x) { return second(dropout(torch::tanh(first(x)))); }
};
TORCH_MODULE(Net);

std::map<std::string, std::string> settings;
std::string folder;
std::string member;
at::Tensor* weight = nullptr;  // one parameter; a tensor that outlives main() would outlive CUDA
tandem::elastic::Context* now = nullptr;  // in this epoch of the membership

std::string setting(const std::string& name, const std::string& otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}
std::int64_t number(const std::string& name, std::int64_t otherwise) {
  return std::stoll(setting(name, std::to_string(otherwise)));
}

// Whether this process is the first to ask.
bool first_to(const std::string& name) {
  const int file = open((folder + "/once." + name).c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (file >= 0) close(file);
  return file >= 0;
}

// AWAIT=MEMBER: until that process waits to be needed, most likely. A busy machine starts it late.
void await_member() {
  const std::string awaited = setting("AWAIT", "");
  if (awaited.empty()) return;
  for (int i = 0; i < 1000 && access((folder + "/waits." + awaited).c_str(), F_OK) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
}

// GATE=FILE, LINGER_UNTIL=FILE, FAIL_AFTER=FILE: until it is there, so that several processes come at once; at the end; before
// an error ends the process. A relative one is in FOLDER.
void await_gate(const std::string& name) {
  std::string gate = setting(name, "");
  if (!gate.empty() && gate.front() != '/') gate = folder + "/" + gate;
  for (int i = 0; !gate.empty() && i < 20000 && access(gate.c_str(), F_OK) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

// FAULTS that are due in this step.
void harm(const std::string& where, tandem::elastic::Context& context) {
  std::istringstream all(setting("FAULTS", ""));
  for (std::string one; std::getline(all, one, ',');) {
    const std::size_t at = one.find('@'), slash = one.find('/');
    const std::string kind = one.substr(0, at);
    const std::string place = kind.substr(kind.find('-') + 1);
    if (place != where || std::stoll(one.substr(at + 1, slash - at - 1)) != context.steps()) continue;
    if (one.substr(slash + 1) != member || !first_to(one.substr(0, at) + "." + std::to_string(context.steps()) + "." + member)) continue;
    const std::string what = kind.substr(0, kind.find('-'));
    await_member();
    if (what == "kill") raise(SIGKILL);
    if (what == "soon") {  // in MOMENT microseconds, whatever it does then
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::microseconds(number("MOMENT", 0)));
        kill(getpid(), SIGKILL);
      }).detach();
    }
    if (what == "segv") {
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    if (what == "exit") _exit(3);
    if (what == "stop") raise(SIGSTOP);
    if (what == "corrupt") {  // as a bit that memory does not keep
      const torch::NoGradGuard no_grad;
      (*weight)[0][0] += 1e-9;
    }
    if (what == "deaf") {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
    }
    if (what == "hang" || what == "deaf") {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    if (what == "throw") throw std::runtime_error("a fault of the program's own");
    if (what == "leave") context.leave();
    // For what the other rank does not send.
    if (what == "wait") context.group()->recv(torch::ones({3}), static_cast<int>(1 - context.rank()));
  }
}

void append_line(const std::string& name, const std::string& text) {
  const std::string line = text + "\n";
  const int file = open((folder + "/" + name).c_str(), O_CREAT | O_APPEND | O_WRONLY, 0644);
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

void note_samples(const tandem::LoadedBatch& batch, tandem::elastic::Context& context) {
  std::string line = std::to_string(context.epoch()) + " " + std::to_string(context.steps() + 1);
  for (const std::int64_t sample : batch.samples) line += " " + std::to_string(sample);
  append_line("samples." + member, line);
  const bool has_bad = std::ranges::find(batch.samples, number("BAD_SAMPLE", -1)) != batch.samples.end();
  if (has_bad && setting("BAD", "") == "crash") {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
}

// DEVICE=cuda: all ranks share one GPU. NCCL takes two of one machine there only where each says that it is another.
void use_gpu() {
  setenv("NCCL_HOSTID", ("member-" + member).c_str(), 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  tandem::load_cuda();
}

int train() {
  const at::Device device(setting("DEVICE", "cpu"));
  if (device.is_cuda()) use_gpu();
  torch::manual_seed(number("SEED", 3) + (setting("SEEDS", "") == "differ" ? std::stoll(member) : 0));
  Net net;
  net->dropout->options.p(std::stod(setting("DROPOUT", "0")));
  net->to(device);
  weight = &net->first->weight;
  const auto made = tandem::optim::make_optimizer(setting("OPTIMIZER", "SGD"), net->parameters(),
                                                  {{"lr", 0.05}});
  const std::shared_ptr<tandem::optim::Optimizer> optimizer(made.get(), [](auto*) {});
  if (setting("OPTIMIZER", "SGD") == "SGD") optimizer->set_option({"momentum", 0.9});
  const auto scheduler = tandem::optim::make_lr_scheduler("StepLR", optimizer, {{"step_size", 7}, {"gamma", 0.8}});
  std::string place;  // in the data
  const auto points = std::make_shared<Points>();
  if (setting("BAD", "") != "crash") points->bad = number("BAD_SAMPLE", -1);
  tandem::elastic::State state;
  state.module("model", *net).optimizer("optimizer", *optimizer).scheduler("scheduler", *scheduler).value("data", place);
  // Asked for in the midst of a commit.
  state.value("harm", [] { if (now) harm("commit", *now); return std::string(); }, [](const std::string&) {});
  const at::Tensor pad = torch::ones({number("PAD", 0), 1 << 18});
  if (pad.numel() > 0) state.tensors("pad", [&] { return tandem::NamedTensors{{"pad", pad}}; });

  tandem::elastic::Options options;
  options.group.backend = setting("BACKEND", "gloo");
  if (device.is_cuda()) options.group.device = at::Device(at::kCUDA, 0);
  options.group.timeout = std::chrono::milliseconds(number("TIMEOUT", 20000));
  options.commit_every = number("COMMIT_EVERY", 4);
  options.checkpoints = setting("CHECKPOINTS", "");
  options.checkpoint_every = number("CHECKPOINT_EVERY", 0);
  options.check_every = number("CHECK_EVERY", 0);
  if (settings.count("DROPOUT")) options.seed = 9;

  const std::int64_t steps = number("STEPS", 40);
  const auto pause = std::chrono::milliseconds(number("PAUSE", 5));
  std::ofstream(folder + "/waits." + member) << std::endl;
  await_gate("GATE");
  const auto outcome = tandem::elastic::run(
      state,
      [&](tandem::elastic::Context& context) {
        now = &context;
        harm("begin", context);
        tandem::DataParallelOptions parallel;
        parallel.gradient_as_bucket_view = true;
        parallel.find_unused_parameters = setting("BUCKETS", "") == "stay";  // Gloo's order of additions follows from them
        tandem::DistributedDataParallel<Net> model(net, context.group(), parallel);
        tandem::LoaderOptions wanted;
        wanted.batch_size = kBatch;
        wanted.rank = context.rank();
        wanted.world_size = context.size();
        wanted.seed = 5;
        tandem::DataLoader loader(points, wanted);
        if (!place.empty()) loader.restore(place);
        while (context.steps() < steps) {
          auto batch = loader.next();
          if (!batch) {
            loader.start_epoch(loader.current_epoch());
            batch = loader.next();
          }
          note_samples(*batch, context);
          harm("forward", context);
          if (setting("SLOW", "") == member) std::this_thread::sleep_for(std::chrono::milliseconds(200));
          const at::Tensor output = model.forward((*batch)[0].to(device));
          const auto error = torch::mse_loss(output, (*batch)[1].to(device), at::Reduction::Sum);
          const auto loss = error * (static_cast<double>(context.size()) / static_cast<double>(batch->global_count));
          loss.backward();
          harm("backward", context);
          optimizer->step();
          optimizer->zero_grad();  // last: what a failure leaves is not this program's to drop
          scheduler->step();
          loader.commit();
          place = loader.state();
          if (context.rank() == 0) append_line("steps", std::to_string(context.steps() + 1));
          if (access((folder + "/hurry").c_str(), F_OK) != 0) std::this_thread::sleep_for(pause);
          context.describe("at batch " + std::to_string(batch->number));
          tandem::report_metrics({.epoch = loader.current_epoch() + 1, .samples = output.size(0), .loss = error.item<double>()});
          context.step();
          std::ofstream(folder + "/trains") << context.steps() << std::endl;
          harm("step", context);
        }
        harm("end", context);
        std::ofstream result(folder + "/result." + std::to_string(context.rank()));
        for (const auto& item : net->named_parameters()) {
          const at::Tensor values = item.value().detach().cpu().contiguous();
          const auto* numbers = values.const_data_ptr<double>();
          for (std::int64_t i = 0; i < values.numel(); ++i) {
            char text[64];
            std::snprintf(text, sizeof text, "%a\n", numbers[i]);
            result << text;
          }
        }
        result << "world " << context.size() << "\nlr " << optimizer->get_option("lr").toDouble() << "\n";
      },
      options);
  std::ofstream(folder + "/ended." + member) << std::endl;
  await_gate("LINGER_UNTIL");
  if (outcome == tandem::elastic::Outcome::kLeft) std::printf("left\n");
  if (outcome == tandem::elastic::Outcome::kNotNeeded) std::printf("not needed\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    settings[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  const char* number_of = std::getenv("TANDEM_MEMBER");
  member = number_of ? number_of : "0";
  std::ofstream(folder + "/pid." + member) << getpid() << std::endl;
  int code = 1;
  if (setting("FAULTS", "") == "quit-start@0/" + member) return 0;
  try {
    code = train();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    await_gate("FAIL_AFTER");
  }
  tandem::shutdown(std::chrono::seconds(10));
  return code;
}
