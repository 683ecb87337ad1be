// Our side of `allreduce` from C++, as go/allreduce is from Go: how long an all-reduce of float32 takes, by size.
//
//   tandem run -n 2 -- bench-allreduce-cpp BACKEND SECONDS BYTES...
//
// Each size is timed for SECONDS; 0: only its result is computed. Writes rank-N.json into the folder BENCH_OUT.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tandem/process_group.h"
#include "tandem/resident.h"

namespace {

// The sum of the result and some of its elements. Element i of rank r is (i + r) mod 11 + 1, so that all are exact.
std::vector<double> check(tandem::ProcessGroup& group, std::int64_t count) {
  const auto t = ((at::arange(count) + group.rank()) % 11 + 1).to(at::kFloat);
  group.all_reduce(t);
  const auto at = [&](std::int64_t i) { return t[i].item<double>(); };
  return {t.sum(at::kDouble).item<double>(), at(0), at(count / 2), at(count - 1)};
}

double loop(tandem::ProcessGroup& group, const at::Tensor& t, int count) {
  group.barrier();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) group.all_reduce(t);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
}

// The mean time of one all-reduce in microseconds.
double measure(tandem::ProcessGroup& group, std::int64_t count, double seconds) {
  const auto t = at::zeros({count});
  const int probes = count >= 1 << 20 ? 2 : 20;
  loop(group, t, probes);
  const auto times = at::full({1}, seconds / loop(group, t, probes), at::kDouble);
  group.all_reduce(times, tandem::ReduceOp::kMin);  // as many on all ranks
  return loop(group, t, static_cast<int>(std::clamp(times.item<double>(), 3., 50000.))) * 1e6;
}

void run(const std::string& backend, double seconds, const std::vector<std::string>& sizes, const std::string& folder) {
  tandem::keep_freed_memory();
  tandem::cache_tensors();
  at::set_num_threads(1);
  tandem::ProcessGroupOptions options;
  options.backend = backend;
  const auto group = tandem::ProcessGroup::create(options);
  std::ostringstream values, microseconds;
  values.precision(std::numeric_limits<double>::max_digits10);
  const char* comma = "";
  for (const std::string& size : sizes) {
    const std::int64_t count = std::stoll(size) / 4;
    values << comma << '"' << size << "\": [";
    const auto found = check(*group, count);
    for (std::size_t i = 0; i < found.size(); ++i) values << (i ? ", " : "") << found[i];
    values << "]";
    if (seconds > 0) microseconds << comma << '"' << size << "\": " << measure(*group, count, seconds);
    comma = ", ";
  }
  std::ofstream report(folder + "/rank-" + std::to_string(group->rank()) + ".json");
  report << "{\"values\": {" << values.str() << "}, \"us\": {" << microseconds.str() << "}}\n";
  if (!report.flush()) throw std::runtime_error("cannot write into " + folder);
  group->close();
}

}  // namespace

int main(int argc, char** argv) {
  const char* out = std::getenv("BENCH_OUT");
  if (argc < 4 || !out) {
    std::cerr << "usage, with a folder in BENCH_OUT: bench-allreduce-cpp BACKEND SECONDS BYTES...\n";
    return 2;
  }
  try {
    run(argv[1], std::stod(argv[2]), {argv + 3, argv + argc}, out);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
