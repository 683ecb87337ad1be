// Functions of TorchScript from their text.
#include "cpp/jit/files.h"

namespace tandem::testing::jit_compile_test {
namespace {

using ::testing::ElementsAre;

constexpr const char* kSource = R"(
def doubled(x):
    return 2 * x

def scaled(x, by: float = 3.0) -> Tensor:
    if by < 0:
        raise ValueError("by is negative")
    return doubled(x) * by

def steps(x, count: int) -> List[Tensor]:
    all: List[Tensor] = []
    for i in range(count):
        all.append(x * i)
    return all
)";

TEST(Compile, FunctionsAreMethods) {
  const auto module = jit::compile(kSource);
  EXPECT_THAT(module->methods(), ElementsAre("doubled", "scaled", "steps"));
  EXPECT_EQ(module->schema("scaled"), "scaled(x: Tensor, by: float = 3.) -> Tensor");
  EXPECT_TRUE(module->parameters().empty());
  const at::Tensor x = torch::ones({2}, at::requires_grad());
  const at::Tensor y = module->call("scaled", {x}).toTensor();
  y.sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::full({2}, 6.f)));
  EXPECT_EQ(module->call("steps", {x, 3}).toTensorVector().size(), 3u);
  EXPECT_ERROR(module->call("scaled", {x, -1}), ErrorCode::kInvalidArgument, "scaled: ValueError: by is negative",
               "line 7, in scaled");
}

TEST(Compile, AreSavedAndLoaded) {
  const std::string bytes = jit::compile(kSource)->save_bytes();
  const auto again = jit::load_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  EXPECT_THAT(again->methods(), ElementsAre("doubled", "scaled", "steps"));
  EXPECT_TRUE(at::equal(again->call("scaled", {at::ones({2})}).toTensor(), at::full({2}, 6.f)));
}

TEST(Compile, ErrorsShowTheirPlace) {
  EXPECT_ERROR(jit::compile("def f(x):\n    return x.nothing_of_this_name(1)\n"), ErrorCode::kInvalidArgument,
               "does not compile", "nothing_of_this_name", "line 2", "<--- HERE");
  EXPECT_ERROR(jit::compile("def f(x):\n    return g(x)\n"), ErrorCode::kInvalidArgument, "undefined value g");
  EXPECT_ERROR(jit::compile("def f(x:\n"), ErrorCode::kInvalidArgument, "does not compile");
  EXPECT_ERROR(jit::compile("def f(x):\n    return f(x)\n"), ErrorCode::kInvalidArgument, "called recursively");
  EXPECT_ERROR(jit::compile(""), ErrorCode::kInvalidArgument, "no function");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Those that are let through compile; LibTorch's compiler would run out of stack at the others.
TEST(Compile, WhatNestsTooDeepIsRefused) {
  const auto brackets = [](int n) {
    return "def f(x):\n    return " + repeated("(", n) + "x" + repeated(")", n) + "\n";
  };
  const auto sum = [](int n) { return "def f(x):\n    return x" + repeated(" + x", n) + "\n"; };
  const auto negated = [](int n) { return "def f(x: bool):\n    return " + repeated("not ", n) + "x\n"; };
  const auto blocks = [](int n) {
    std::string text = "def f(x: bool):\n";
    for (int i = 1; i < n; ++i) text += std::string(i, ' ') + "if x:\n";
    return text + std::string(n, ' ') + "print(x)\n";
  };
  const auto choices = [](int n) {
    return "def f(x: int) -> int:\n  if x == 0:\n    y = 1\n" + repeated("  elif x == 1:\n    y = 1\n", n) +
           "  else:\n    y = 2\n  return y\n";
  };
  const auto types = [](int n) {
    return "def f(x: " + repeated("List[", n) + "int" + repeated("]", n) + "):\n    return 1\n";
  };
  EXPECT_NO_THROW(jit::compile(brackets(150)));
  EXPECT_NO_THROW(jit::compile(sum(900)));
  EXPECT_NO_THROW(jit::compile(negated(900)));
  EXPECT_NO_THROW(jit::compile(blocks(60)));
  EXPECT_NO_THROW(jit::compile(choices(150)));
  EXPECT_NO_THROW(jit::compile(types(100)));
  for (const std::string& source : {brackets(100'000), sum(100'000), negated(100'000), blocks(2'000), choices(20'000),
                                    types(100'000), "def f(x):\n    return x" + repeated("[0]", 100'000) + "\n",
                                    "def f(x):\n    return x" + repeated(".T", 100'000) + "\n",
                                    "def f(x: int):\n    return " + repeated("1 if x > 0 else ", 50'000) + "2\n"}) {
    EXPECT_ERROR(jit::compile(source), ErrorCode::kUnsupported, "the source, line ", "more than ");
  }
  std::string chain = "def f0(x):\n    return x\n";
  for (int i = 1; i < 20'000; ++i)
    chain += "def f" + std::to_string(i) + "(x):\n    return f" + std::to_string(i - 1) + "(x)\n";
  EXPECT_ERROR(jit::compile(chain), ErrorCode::kUnsupported, "more than 16384 functions");
}

}  // namespace
}  // namespace tandem::testing::jit_compile_test
