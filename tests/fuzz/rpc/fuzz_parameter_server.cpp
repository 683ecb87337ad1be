// What trainers ask of parameter servers, damaged: the server answers, or says what is wrong, in bounded memory, and goes on.
//
//   fuzz_parameter_server SECONDS SEED
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tandem/error.h"
#include "tandem/parameter_server.h"
#include "tandem/rpc.h"
#include "tandem/runtime.h"
#include "tandem/store.h"

namespace {

namespace rpc = tandem::rpc;
using at::IValue;

constexpr std::int64_t kMostGrowth = 512 << 10;  // KiB

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::int64_t most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6);
  }
  give_up("no VmHWM in /proc/self/status");
}

IValue tuple(std::vector<IValue> parts) {
  return c10::ivalue::Tuple::create(std::move(parts));
}

IValue list(const std::vector<IValue>& values) {
  c10::impl::GenericList made(c10::AnyType::get());
  for (const IValue& value : values) made.push_back(value);
  return made;
}

// A request as a trainer makes it.
struct Request {
  std::string function;
  rpc::Values arguments;
};

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : random_(seed) {}

  void run(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const std::int64_t before = most_memory();
    for (; Clock::now() < end; ++rounds_) round();
    std::printf("%ld rounds: %ld requests answered, %ld refused\n", rounds_, answered_, refused_);
    if (answered_ == 0 || refused_ == 0) give_up("the changes reach nothing: one of the counts is zero");
    if (const std::int64_t grown = most_memory() - before; grown > kMostGrowth) {
      give_up("memory has grown by " + std::to_string(grown) + " KiB: a size was believed");
    }
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  // A server with tables, or one that has none yet, is asked what makes no sense.
  void round() {
    std::optional<tandem::ParameterServer> server;
    server.emplace(tandem::ParameterServerOptions{.most_bytes = 1 << 20});
    const bool has_tables = below(4) != 0;
    if (has_tables) {
      send(valid("join"));
      send(valid("admit"));
    }
    for (std::size_t i = 0; i < 10; ++i) {
      Request request = valid(kFunctions[below(std::size(kFunctions))]);
      for (std::size_t times = 1 + below(3); times > 0; --times) change(request);
      send(request);
    }
    if (!has_tables) return;
    // Whatever came, the table is one.
    const auto rows = send({"read", {"self", "words", torch::arange(5)}});
    if (rows && (!rows->isTensor() || rows->toTensor().sizes() != at::IntArrayRef({5, 2}))) give_up("the table is none any more");
    if (server->statistics().bytes != kBytes) give_up("tables have " + std::to_string(server->statistics().bytes) + " bytes");
  }

  std::optional<IValue> send(const Request& request) {
    rpc::CallOptions options;
    options.timeout = std::chrono::seconds(20);
    try {
      IValue answer = rpc::rpc_sync("self", "tandem.parameters." + request.function, request.arguments, options);
      ++answered_;
      return answer;
    } catch (const tandem::Error& error) {
      ++refused_;
      const bool is_expected = error.code() != tandem::ErrorCode::kInternal && error.code() != tandem::ErrorCode::kTimeout &&
                               error.code() != tandem::ErrorCode::kPeerLost;
      if (!is_expected) give_up("round " + std::to_string(rounds_) + ", " + request.function + ": " + error.what());
      return std::nullopt;
    }
  }

  Request valid(const std::string& function) {
    const IValue sgd = tuple({"SGD", list({tuple({"lr", 0.5})})});
    const IValue dense = list({tuple({"weight", std::vector<std::int64_t>{3}, static_cast<std::int64_t>(at::kDouble)})});
    const IValue words = tuple({"words", 5, 2, static_cast<std::int64_t>(at::kFloat), tuple({"Adagrad", list({})}), true, false,
                                1.0, 7, 0, 1});
    if (function == "join") {
      return {function, {"self", tuple({true, 0, 1, false, dense, sgd, list({words})}), -1,
                         tuple({list({torch::ones({3}, torch::kDouble)}), list({})})}};
    }
    if (function == "leave") return {function, {"self", true}};
    if (function == "read") return {function, {"self", "words", torch::tensor({1, 4})}};
    if (function == "push") {
      return {function, {"self", 0, list({torch::ones({3}, torch::kDouble)}),
                         list({tuple({"words", torch::tensor({1, 4}), torch::ones({2, 2})})})}};
    }
    if (function == "look") return {function, {"self", 1}};
    if (function == "set_option") return {function, {"self", below(2) ? "words" : "", "lr", 0.25}};
    if (function == "read_state") {
      return below(2) ? Request{function, {"self", "words", torch::tensor({0, 1})}} : Request{function, {"self", "", list({"weight"})}};
    }
    if (function == "write_state") {
      return {function, {"self", "words", torch::tensor({0}), list({tuple({"", torch::ones({1, 2})})})}};
    }
    return {function, {"self"}};  // admit
  }

  void change(Request& request) {
    if (request.arguments.empty() || below(12) == 0) {
      request.arguments.push_back(odd());
    } else if (below(12) == 0) {
      request.arguments.erase(request.arguments.begin() + static_cast<std::ptrdiff_t>(below(request.arguments.size())));
    } else {
      // The trainer's name is the session's, mostly: else all ends there.
      const std::size_t at = below(10) == 0 ? 0 : below(request.arguments.size());
      request.arguments[at] = changed(request.arguments[at]);
    }
  }

  // Another value instead of it, or of something within it.
  IValue changed(const IValue& value) {
    if (below(4) == 0) return odd();
    if (value.isTuple()) {
      auto parts = value.toTupleRef().elements().vec();
      return tuple(changed(std::move(parts)));
    }
    if (value.isList()) return list(changed(value.toListRef().vec()));
    if (value.isTensor() && below(3) != 0) return changed(value.toTensor());
    return odd();
  }

  std::vector<IValue> changed(std::vector<IValue> parts) {
    const std::size_t at = below(parts.size() + 1);
    if (at == parts.size()) {
      parts.push_back(parts.empty() || below(2) ? odd() : parts[below(parts.size())]);
    } else if (below(5) == 0) {
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      parts[at] = changed(parts[at]);
    }
    return parts;
  }

  at::Tensor changed(const at::Tensor& tensor) {
    if (tensor.is_sparse()) return tensor.to_dense();
    switch (below(6)) {
      case 0:
        return tensor.to(below(2) ? at::kInt : at::kComplexDouble);
      case 1:
        return tensor.unsqueeze(0);
      case 2:
        return tensor.flatten().narrow(0, 0, static_cast<std::int64_t>(below(static_cast<std::size_t>(tensor.numel()) + 1)));
      case 3:
        return at::full_like(tensor, below(2) ? 1e9 : -1);
      case 4:
        return at::cat({tensor, tensor});
      default:
        return tensor.to_sparse();
    }
  }

  IValue odd() {
    static const double kReals[] = {0.0, -1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()};
    static const std::int64_t kWhole[] = {0, 1, -1, 7, 1 << 20, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};
    static const char* const kTexts[] = {"", "words", "weight", "self", "nobody", "Adam", "SGD", "sum", "a/b", "lr"};
    switch (below(9)) {
      case 0:
        return IValue();
      case 1:
        return kWhole[below(std::size(kWhole))];
      case 2:
        return kReals[below(std::size(kReals))];
      case 3:
        return kTexts[below(std::size(kTexts))];
      case 4:
        return std::string(1 + below(3000), 'x');
      case 5:
        return below(2) == 1;
      case 6:
        return below(2) ? tuple({}) : list({});
      case 7:
        return below(2) ? torch::arange(static_cast<std::int64_t>(below(7))) : torch::rand({static_cast<std::int64_t>(below(3)), 2});
      default:
        return list({tuple({kTexts[below(std::size(kTexts))], kWhole[below(std::size(kWhole))]})});
    }
  }

  static constexpr const char* kFunctions[] = {"join", "admit", "leave", "read", "push", "look", "set_option", "read_state", "write_state"};
  static constexpr std::int64_t kBytes = 5 * 2 * 4 + 3 * 8;

  std::mt19937 random_;
  long rounds_ = 0, answered_ = 0, refused_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SECONDS SEED\n", argv[0]);
    return 1;
  }
  rpc::Options options;
  options.rank = 0;
  options.world_size = 1;
  rpc::init("self", options, tandem::hash_store());
  Fuzzer(static_cast<unsigned>(std::atoi(argv[2]))).run(std::atof(argv[1]));
  rpc::shutdown();
  tandem::shutdown(std::chrono::seconds(10));
  return 0;
}
