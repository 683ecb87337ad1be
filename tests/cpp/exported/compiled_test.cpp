// Programs with a compiled side: which of the two runs, with whose tensors, and what is refused before.
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cpp/exported/archives.h"
#include "cpp/exported/programs.h"
#include "support/temporary_folder.h"
#include "tandem/error.h"
#include "tandem/optim.h"

namespace tandem::testing {
namespace {

// What the library is when it is loaded: see compiled_mlp.cpp.
struct Variant {
  explicit Variant(const char* name) { ::setenv("COMPILED_MLP", name, 1); }
  ~Variant() { ::unsetenv("COMPILED_MLP"); }
};

// Where packages are unpacked.
class Unpacking {
 public:
  Unpacking() {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    ::setenv("TMPDIR", folder_.path.c_str(), 1);
  }
  ~Unpacking() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  bool is_empty() const { return std::filesystem::is_empty(folder_.path); }

 private:
  TemporaryFolder folder_;
  std::optional<std::string> before_;
};

std::unique_ptr<ExportedProgram> load_compiled(const std::string& package = COMPILED_MLP_PACKAGE) {
  return ExportedProgram::load(archive("mlp_eval"), {.compiled = package});
}

// Its results lie column by column.
bool is_of_compiled(const at::Tensor& y) {
  return y.stride(0) == 1 && y.stride(1) == y.size(0);
}
at::Tensor run(ExportedProgram& program, const at::Tensor& x) {
  return program.forward({x})[0].toTensor();
}
at::Tensor by_graph(ExportedProgram& program, const at::Tensor& x) {
  const at::AutoGradMode with_gradients(true);
  const at::Tensor y = run(program, x);
  EXPECT_FALSE(is_of_compiled(y));
  return y;
}
void expect_compiled(ExportedProgram& program, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const at::Tensor y = run(program, x);
  EXPECT_TRUE(is_of_compiled(y));
  EXPECT_TRUE(torch::allclose(y, by_graph(program, x), 1e-12, 1e-12));
}

std::string refused(ErrorCode code, const std::string& package, const std::string& program = "mlp_eval") {
  try {
    ExportedProgram::load(archive(program), {.compiled = package});
    ADD_FAILURE() << "loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

std::string with_metadata(const TemporaryFolder& folder, const std::string& key, const std::string& value) {
  rewrite_json(COMPILED_MLP_PACKAGE, folder / "changed.pt2", "data/aotinductor/model/mlp.wrapper_metadata.json",
               [&](nlohmann::json& metadata) { metadata[key] = value; });
  return folder / "changed.pt2";
}

TEST(Compiled, GivesWhatTheGraphGives) {
  const auto program = load_compiled();
  for (const std::int64_t batch : {2, 4, 64}) expect_compiled(*program, pattern({batch, 6}, batch));
  const c10::InferenceMode inference;
  const at::Tensor y = run(*program, pattern({4, 6}, 1));
  EXPECT_TRUE(is_of_compiled(y) && y.is_inference());
  expect_values({y}, references()["mlp_eval"]["outputs"], "compiled");
}

TEST(Compiled, RunsWhereThereAreNoGradients) {
  const auto program = load_compiled();
  const at::Tensor x = pattern({3, 6}, 1);
  EXPECT_TRUE(by_graph(*program, x).requires_grad());
  for (at::Tensor& parameter : program->get().parameters()) parameter.set_requires_grad(false);
  EXPECT_TRUE(is_of_compiled(run(*program, x)));
  EXPECT_FALSE(is_of_compiled(run(*program, x.clone().requires_grad_())));
}

TEST(Compiled, LeavesInputsWithoutElementsToTheGraph) {
  const auto program = load_compiled();
  const at::NoGradGuard no_grad;
  const at::Tensor y = run(*program, at::empty({0, 6}, at::kDouble));
  EXPECT_EQ(y.sizes(), at::IntArrayRef({0, 3}));
  EXPECT_EQ(y.stride(0), 3);  // the graph's
}

TEST(Compiled, IsCopiedAfterAChangeOfDtype) {
  const auto program = load_compiled();
  program->get().to(at::kFloat);
  const auto copy = program->clone();
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(is_of_compiled(copy->forward({pattern({3, 6}, 1).to(at::kFloat)})[0].toTensor()));
  copy->get().to(at::kDouble);
  EXPECT_TRUE(is_of_compiled(copy->forward({pattern({3, 6}, 1)})[0].toTensor()));
}

TEST(Compiled, FollowsNewMemoryInEveryMode) {
  const auto program = load_compiled();
  const at::Tensor x = pattern({3, 6}, 1);
  for (const bool before : {true, false}) {
    for (const bool after : {true, false}) {
      {
        const c10::InferenceMode mode(before);
        const at::NoGradGuard no_grad;
        EXPECT_TRUE(is_of_compiled(run(*program, x)));
      }
      at::Tensor weight = program->get().parameters()[0];
      weight.set_data(weight.detach() * 1.5);
      at::Tensor y;
      {
        const c10::InferenceMode mode(after);
        const at::NoGradGuard no_grad;
        y = run(*program, x);
      }
      EXPECT_TRUE(is_of_compiled(y));
      EXPECT_TRUE(torch::allclose(y, by_graph(*program, x), 1e-12, 1e-12)) << before << after;
    }
  }
}

TEST(Compiled, LeavesAutocastToTheGraph) {
  const auto program = load_compiled();
  const at::NoGradGuard no_grad;
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const bool compiled = is_of_compiled(run(*program, pattern({3, 6}, 1)));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_FALSE(compiled);
}

TEST(Compiled, RunsInTheModeThatWasCompiled) {
  const auto program =
      ExportedProgram::load(archive("mlp"), {.other_mode = archive("mlp_eval"), .compiled = COMPILED_MLP_PACKAGE});
  const at::NoGradGuard no_grad;
  const at::Tensor x = pattern({3, 6}, 1);
  // Their graphs are the same, so that it may be of either.
  program->get().train();
  EXPECT_FALSE(is_of_compiled(run(*program, x)));
  program->get().eval();
  EXPECT_TRUE(is_of_compiled(run(*program, x)));
}

TEST(Compiled, ReadsTheModulesOwnTensors) {
  const auto program = load_compiled();
  const at::Tensor x = pattern({3, 6}, 1);
  expect_compiled(*program, x);
  const auto sgd = optim::make_optimizer("SGD", program->get().parameters(), {{"lr", 0.5}});
  const at::Tensor before = by_graph(*program, x).detach();
  by_graph(*program, x).square().sum().backward();
  sgd->step();
  EXPECT_FALSE(torch::allclose(before, by_graph(*program, x)));
  expect_compiled(*program, x);
  // Other memory.
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : program->get().parameters()) parameter.set_data(parameter * 2);
  expect_compiled(*program, x);
  // Another tensor of the same memory in other strides, and another dtype, are the graph's.
  at::Tensor weight = program->get().named_parameters()["layers.0.weight"];
  const at::Tensor rows = weight.detach().clone();
  weight.set_data(weight.detach().t().contiguous().t());
  EXPECT_FALSE(is_of_compiled(run(*program, x)));
  weight.set_data(rows);
  expect_compiled(*program, x);
  program->get().to(at::kFloat);
  EXPECT_FALSE(is_of_compiled(run(*program, x.to(at::kFloat))));
  program->get().to(at::kDouble);
  expect_compiled(*program, x);
}

TEST(Compiled, CopiesInputsOfOtherStrides) {
  const auto program = load_compiled();
  expect_compiled(*program, pattern({6, 3}, 1).t());
  expect_compiled(*program, pattern({3, 12}, 1).slice(1, 3, 9));
  expect_compiled(*program, pattern({1, 6}, 1).expand({4, 6}));
}

TEST(Compiled, TakesWhatTheProgramTakes) {
  const auto program = load_compiled();
  const at::NoGradGuard no_grad;
  EXPECT_THROW(program->forward({pattern({3, 5}, 1)}), Error);
  EXPECT_THROW(program->forward({pattern({65, 6}, 1)}), Error);
  EXPECT_THROW(program->forward({pattern({3, 6}, 1).to(at::kFloat)}), Error);
}

TEST(Compiled, FailuresAreErrors) {
  const auto program = load_compiled();
  at::Tensor x = pattern({3, 6}, 1);
  x[0][0] = std::nan("");
  // As many as wait, and more.
  for (int i = 0; i < 100; ++i) {
    const at::NoGradGuard no_grad;
    try {
      run(*program, x);
      FAIL() << "gave a result";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kLibrary);
      EXPECT_NE(std::string(error.what()).find("the compiled code failed"), std::string::npos) << error.what();
    }
  }
  expect_compiled(*program, pattern({3, 6}, 1));
}

TEST(Compiled, IsCalledByManyThreadsAtOnce) {
  const auto program = load_compiled();
  const at::Tensor x = pattern({16, 6}, 1);
  const at::Tensor wanted = by_graph(*program, x).detach();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const at::NoGradGuard no_grad;
      for (int call = 0; call < 50; ++call) {
        const at::Tensor y = run(*program, x);
        right += is_of_compiled(y) && torch::allclose(y, wanted, 1e-12, 1e-12);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 16 * 50);
}

TEST(Compiled, CopiesHaveTheirOwn) {
  const auto program = load_compiled();
  const at::Tensor x = pattern({3, 6}, 1);
  expect_compiled(*program, x);
  const auto copy = program->clone();
  auto& copied = dynamic_cast<ExportedProgram&>(*copy);
  const at::Tensor before = by_graph(*program, x).detach();
  {
    const at::NoGradGuard no_grad;
    for (at::Tensor& parameter : copied.get().parameters()) parameter.mul_(2);
  }
  expect_compiled(copied, x);
  expect_compiled(*program, x);
  EXPECT_TRUE(torch::equal(before, by_graph(*program, x)));
}

std::size_t mapped_of(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(library) != std::string::npos;
  return count;
}
std::size_t mapped_libraries() {
  return mapped_of("mlp.wrapper.so");
}

TEST(Compiled, IsLinkedWithoutCuda) {
  const auto program = load_compiled();
  EXPECT_EQ(mapped_of("/libtorch.so"), 0u);
  EXPECT_EQ(mapped_of("/libtorch_cuda.so"), 0u);
}

TEST(Compiled, LeavesNothingBehind) {
  const Unpacking unpacking;
  {
    const auto program = load_compiled();
    EXPECT_TRUE(unpacking.is_empty());
    EXPECT_NE(mapped_libraries(), 0u);
    expect_compiled(*program, pattern({3, 6}, 1));
  }
  const std::size_t once = mapped_libraries();
  for (int i = 0; i < 20; ++i) expect_compiled(*load_compiled(), pattern({3, 6}, 1));
  EXPECT_EQ(mapped_libraries(), once);
  EXPECT_TRUE(unpacking.is_empty());
}

TEST(Compiled, OfAnotherProgramIsRefused) {
  const std::string differs = refused(ErrorCode::kInvalidArgument, COMPILED_MLP_PACKAGE, "cnn_eval");
  for (const char* part : {"was compiled from another program", "only it has 'layers.0.weight'", "it has no 'conv.weight'"}) {
    EXPECT_NE(differs.find(part), std::string::npos) << differs;
  }
  EXPECT_NE(refused(ErrorCode::kInvalidArgument, COMPILED_MLP_PACKAGE, "decoder_eval").find("it gives * and not {"),
            std::string::npos);
  const Variant other("other");
  EXPECT_NE(refused(ErrorCode::kInvalidArgument, COMPILED_MLP_PACKAGE)
                .find("its 'layers.4.weight' is Double[4, 8] and not Double[3, 8]"),
            std::string::npos);
}

TEST(Compiled, WithValuesOfItsOwnIsRefused) {
  const auto tells = [](const char* variant, const std::string& part) {
    const Variant with(variant);
    const std::string message = refused(ErrorCode::kUnsupported, COMPILED_MLP_PACKAGE);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  tells("inlined", "(layers.2.bias); compile it with inductor_configs={\"always_keep_tensor_constants\": True, ");
  tells("folded", "computes 'layers_0_weight' from parameters once");
  tells("empty", "has no tensor for its constant 'layers_0_weight'");
}

TEST(Compiled, ForOthersIsRefusedByName) {
  const TemporaryFolder folder;
  const Unpacking unpacking;
  const auto tells = [&](const std::string& key, const std::string& value, const std::string& part) {
    const std::string message = refused(ErrorCode::kUnsupported, with_metadata(folder, key, value));
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  tells("AOTI_CPU_ISA", "AVX512 AVX1024", "has instructions that this processor lacks (");
  tells("AOTI_MACHINE", "vax", "was compiled for processors of the kind vax");
  tells("AOTI_PLATFORM", "win32", "for the platform 'win32'");
  tells("AOTI_DEVICE_KEY", "cuda", "for the device 'cuda'");
  tells("weights", "", "may have values of weights in its code");
  EXPECT_TRUE(unpacking.is_empty());
}

TEST(Compiled, PackagesThatAreNoneAreRefused) {
  const TemporaryFolder folder;
  const Unpacking unpacking;
  const std::string changed = folder / "changed.pt2";
  const auto without = [&](const std::string& part) {
    rewrite(COMPILED_MLP_PACKAGE, changed, [&](const std::string& member, std::string content) -> std::optional<std::string> {
      if (member.find(part) != std::string::npos) return std::nullopt;
      return content;
    });
    return changed;
  };
  const auto tells = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  tells(refused(ErrorCode::kUnsupported, without(".so")), "has no shared library but sources");
  tells(refused(ErrorCode::kDataLoss, without("aotinductor")), "is no package of AOTInductor");
  tells(refused(ErrorCode::kDataLoss, without("metadata")), "has no member");
  tells(refused(ErrorCode::kInvalidArgument, archive("mlp_eval")), "is an archive of torch.export.save");
  tells(refused(ErrorCode::kNotFound, folder / "none.pt2"), "none.pt2");
  rewrite(COMPILED_MLP_PACKAGE, changed, [&](const std::string& member, std::string content) -> std::optional<std::string> {
    return member.ends_with(".so") ? "no library" : content;
  });
  tells(refused(ErrorCode::kLibrary, changed), "does not load");
  {
    std::ifstream from(COMPILED_MLP_PACKAGE, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(from), {}};
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(changed, std::ios::binary) << bytes;
  }
  tells(refused(ErrorCode::kDataLoss, changed), "its checksum is another");
  EXPECT_TRUE(unpacking.is_empty());
}

}  // namespace
}  // namespace tandem::testing
