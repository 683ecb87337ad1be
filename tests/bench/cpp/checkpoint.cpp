// Our side of `checkpoint`: a state of 64 equal tensors, saved and loaded, and what the machine alone takes for the same.
//
//   bench-checkpoint save|load|read|async FOLDER MB     read: of the file that save wrote, into fresh memory
//
// Writes rank-0.json into the folder BENCH_OUT: seconds, and of load and read the most memory that they took in MB.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "tandem/checkpoint.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTensors = 64;

double seconds_of(const std::function<void()>& body) {
  const auto begin = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// In MB, since the process began.
double most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0;
    status >> kib;
    return kib * 1024 / 1e6;
  }
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

tandem::CheckpointContent state_of(std::int64_t bytes) {
  torch::manual_seed(1);
  tandem::NamedTensors tensors;
  for (int i = 0; i < kTensors; ++i) {
    tensors.emplace_back("layers." + std::to_string(i) + ".weight", torch::rand({bytes / kTensors / 4}));
  }
  return {.replicated = {{"model", tensors}}};
}

std::string save(const std::string& folder, std::int64_t bytes) {
  const auto state = state_of(bytes);
  tandem::CheckpointFolder checkpoints(folder, {.keep = 1});
  return "\"s\": " + std::to_string(seconds_of([&] { checkpoints.save(1, state); }));
}

std::string load(const std::string& folder) {
  tandem::CheckpointFolder checkpoints(folder);
  torch::rand({1});  // LibTorch's own memory
  const double before = most_memory();
  std::optional<tandem::Checkpoint> read;
  const double seconds = seconds_of([&] { read = checkpoints.load(); });
  if (!read || read->sections.at("model").size() != kTensors) throw std::runtime_error("the state is not whole");
  return "\"s\": " + std::to_string(seconds) + ", \"mb\": " + std::to_string(most_memory() - before);
}

// As much as the file has, as fast as it comes.
std::string read(const std::string& folder) {
  const std::string path = folder + "/step-000000001/model.safetensors";
  const double before = most_memory();
  std::unique_ptr<char, void (*)(void*)> memory(nullptr, std::free);
  const double seconds = seconds_of([&] {
    const int file = open(path.c_str(), O_RDONLY);
    const off_t size = lseek(file, 0, SEEK_END);
    memory.reset(static_cast<char*>(std::malloc(static_cast<std::size_t>(size))));
    for (off_t at = 0; at < size;) {
      const ssize_t done = pread(file, memory.get() + at, static_cast<std::size_t>(std::min<off_t>(size - at, 1 << 20)), at);
      if (done <= 0) throw std::runtime_error("cannot read " + path);
      at += done;
    }
    close(file);
  });
  return "\"s\": " + std::to_string(seconds) + ", \"mb\": " + std::to_string(most_memory() - before);
}

// How long training stands still, from the second save on, and how long a copy of the state into memory takes that is
// there already.
std::string async(const std::string& folder, std::int64_t bytes) {
  const auto state = state_of(bytes);
  tandem::CheckpointFolder checkpoints(folder, {.keep = 1});
  checkpoints.save_async(1, state);
  checkpoints.wait();
  std::vector<double> pauses, copies;
  for (int step = 2; step < 5; ++step) {
    pauses.push_back(seconds_of([&] { checkpoints.save_async(step, state); }));
    checkpoints.wait();
  }
  const auto& tensors = state.replicated.at("model");
  std::vector<std::vector<char>> copy;
  for (const auto& [name, tensor] : tensors) copy.emplace_back(tensor.nbytes(), 1);
  for (int i = 0; i < 3; ++i) {
    copies.push_back(seconds_of([&] {
      for (std::size_t j = 0; j < copy.size(); ++j) {
        std::memcpy(copy[j].data(), tensors[j].second.const_data_ptr(), copy[j].size());
      }
    }));
  }
  std::sort(pauses.begin(), pauses.end());
  std::sort(copies.begin(), copies.end());
  return "\"s\": " + std::to_string(pauses[1]) + ", \"memcpy\": " + std::to_string(copies[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const char* out = std::getenv("BENCH_OUT");
  if (words.size() != 3 || !out) {
    std::cerr << "usage: BENCH_OUT=FOLDER bench-checkpoint save|load|read|async FOLDER MB\n";
    return 1;
  }
  try {
    const std::int64_t bytes = std::stoll(words[2]) * 1000000;
    std::string result;
    if (words[0] == "save") result = save(words[1], bytes);
    if (words[0] == "load") result = load(words[1]);
    if (words[0] == "read") result = read(words[1]);
    if (words[0] == "async") result = async(words[1], bytes);
    if (result.empty()) throw std::runtime_error("there is no " + words[0]);
    std::ofstream(std::string(out) + "/rank-0.json") << "{" << result << "}\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
