// The C++ peer of `op-overhead`: LibTorch's unboxed operators, called as a C++ program calls them.
//
//   bench-op-overhead-cpp CASE ITERATIONS        CASE: add-scope, add-scope-grad or add-noscope
//
// Writes rank-0.json into the folder BENCH_OUT: microseconds for one iteration, and the values that one gives.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

// Element i of a 4x4 tensor is i * step, exact in every language.
at::Tensor ramp(float step) {
  return at::arange(16, at::kFloat).mul(step).view({4, 4});
}

// C++ has no scopes: each result is freed where it goes out of sight, in all cases.
double microseconds_for_one(const at::Tensor& a, const at::Tensor& b, long iterations) {
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < iterations; ++i) at::add(a, b);
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / static_cast<double>(iterations);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[1] : "";
  const char* folder = std::getenv("BENCH_OUT");
  if ((name != "add-scope" && name != "add-scope-grad" && name != "add-noscope") || !folder) {
    std::cerr << "usage: BENCH_OUT=FOLDER bench-op-overhead-cpp add-scope|add-scope-grad|add-noscope ITERATIONS\n";
    return 2;
  }
  const long iterations = std::stol(argv[2]);
  at::set_num_threads(1);
  const bool grad = name == "add-scope-grad";
  const at::Tensor a = ramp(0.25F).requires_grad_(grad);
  const at::Tensor b = ramp(-2).requires_grad_(grad);
  microseconds_for_one(a, b, iterations / 10);
  const double microseconds = microseconds_for_one(a, b, iterations);

  const at::Tensor sum = at::add(a, b).detach();
  std::ofstream report(std::string(folder) + "/rank-0.json");
  report << "{\"us\": " << microseconds << ", \"values\": [";
  for (int i = 0; i < 16; ++i) report << (i ? ", " : "") << sum.view(-1)[i].item<float>();
  report << "]}\n";
  return report.flush() ? 0 : 1;
}
