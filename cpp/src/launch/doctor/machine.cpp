#include "launch/doctor/machine.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "launch/core_binding.h"
#include "launch/numa_binding.h"

namespace fs = std::filesystem;

namespace tandem::doctor {
namespace {

// One of two ranks needs 31 while LibTorch is loaded and its group is made; each further one takes one to three.
constexpr rlim_t kFewestDescriptors = 64, kFewDescriptors = 1024;
constexpr double kMiB = 1 << 20, kGiB = 1 << 30;
// NCCL takes some MiB of /dev/shm for each pair of ranks that no other way connects.
constexpr double kFewShmBytes = 256 * kMiB;

std::string bytes_text(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes >= kGiB ? "%.1f GiB" : "%.1f MiB", bytes / (bytes >= kGiB ? kGiB : kMiB));
  return text;
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// "" where GPUs that LibTorch cannot use are a surprise.
std::string why_no_gpu_is_meant() {
  const char *device = std::getenv("TANDEM_DEVICE"), *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (device && std::string_view(device).starts_with("cpu")) return "TANDEM_DEVICE is " + std::string(device);
  if (visible && (!*visible || std::string_view(visible) == "-1")) return "CUDA_VISIBLE_DEVICES hides them";
  // Of a container, which sees the driver in /proc.
  std::error_code error;
  if (!fs::exists("/dev/nvidiactl", error))
    return "there is no /dev/nvidiactl (docker run --gpus all gives it to a container)";
  return "";
}

}  // namespace

Finding examine_cpus() {
  const std::vector<launch::Cpu> cpus = launch::allowed_cpus();
  std::set<std::pair<int, int>> cores;
  for (const launch::Cpu& cpu : cpus) cores.emplace(cpu.package, cpu.core);
  std::set<int> nodes;
  for (const launch::PlacedCpu& cpu : launch::placed_cpus(cpus)) nodes.insert(cpu.node);
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  std::string text = counted(cpus.size(), "CPU");
  if (all > static_cast<long>(cpus.size()))
    text += " of " + std::to_string(all) + " (the others are not this process's: taskset, cpuset)";
  text += ", " + counted(cores.size(), "core") + ", " + counted(std::max<std::size_t>(nodes.size(), 1), "NUMA node");
  const int usable = launch::usable_cores();
  if (usable < static_cast<int>(cores.size()))
    text += "; the control group gives the time of " + std::to_string(usable);
  return ok("CPUs", text);
}

Gpus find_gpus() {
  Gpus gpus;
  std::string line;
  if (std::ifstream file("/proc/driver/nvidia/version"); std::getline(file, line)) {
    static const std::regex number(R"((\d+\.\d+(\.\d+)?))");
    std::smatch match;
    gpus.driver = std::regex_search(line, match, number) ? match[1].str() : line;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream file(entry.path() / "information");
    std::string model = "a GPU";
    while (std::getline(file, line)) {
      if (!line.starts_with("Model:")) continue;
      const std::size_t at = line.find_first_not_of(" \t", std::strlen("Model:"));
      if (at != std::string::npos) model = line.substr(at);
    }
    gpus.models.push_back(model);
  }
  return gpus;
}

Finding examine_gpus(const Gpus& gpus, bool library_works, int usable, const std::string& reason) {
  const std::string topic = "GPUs";
  if (gpus.models.empty() && gpus.driver.empty() && usable == 0) return ok(topic, "none: there is no NVIDIA driver");
  std::map<std::string, std::size_t> models;
  for (const std::string& model : gpus.models) ++models[model];
  std::string text;
  for (const auto& [model, count] : models) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + model;
  if (text.empty()) text = "no GPU is shown";
  text += gpus.driver.empty() ? "" : ", driver " + gpus.driver;
  if (!library_works) return ok(topic, text);
  text += "; LibTorch can use " + std::to_string(usable);
  if (usable > 0) return ok(topic, text);
  if (const std::string meant = why_no_gpu_is_meant(); !meant.empty()) return ok(topic, text + ": " + meant);
  return warning(topic, text + ": " + reason, "training is on CPUs; TANDEM_DEVICE=cpu says that it is meant so");
}

Finding examine_descriptors() {
  const std::string topic = "descriptors";
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return warning(topic, std::string("cannot be asked for: ") + std::strerror(errno), "");
  const std::string text = limit_text(limit.rlim_cur) + ", may be raised to " + limit_text(limit.rlim_max);
  const std::string advice = limit.rlim_max >= kFewDescriptors
                                 ? "`ulimit -n 4096` before the command (for services LimitNOFILE=)"
                                 : "raise the hard limit (/etc/security/limits.conf, LimitNOFILE= of the service, "
                                   "docker run --ulimit nofile=4096)";
  if (limit.rlim_cur < kFewestDescriptors) {
    return problem(topic, text + ": a rank takes about 30, and one to three for each other rank", advice);
  }
  if (limit.rlim_cur < kFewDescriptors)
    return warning(topic, text + ": a rank takes one to three for each other rank", advice);
  return ok(topic, text);
}

Finding examine_shm(int gpus) {
  const std::string topic = "/dev/shm";
  struct statvfs info {};
  if (statvfs("/dev/shm", &info) != 0) {
    return warning(topic, std::string("cannot be asked for: ") + std::strerror(errno), "mount a tmpfs there");
  }
  const double unit = static_cast<double>(info.f_frsize);
  const double free = static_cast<double>(info.f_bavail) * unit, size = static_cast<double>(info.f_blocks) * unit;
  const std::string text = bytes_text(free) + " free of " + bytes_text(size);
  if (free >= kFewShmBytes) return ok(topic, text);
  const std::string advice = "mount -o remount,size=8G /dev/shm (docker run --shm-size 8g), or remove what lies there";
  if (gpus > 1) return problem(topic, text + ": NCCL, between GPUs of one machine, may find no room", advice);
  return warning(topic, text + ": backend shm needs none of it, but NCCL and other programs do", advice);
}

Finding examine_locked_memory(bool has_gpus) {
  const std::string topic = "locked memory";
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
    return warning(topic, std::string("cannot be asked for: ") + std::strerror(errno), "");
  const std::string text =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : bytes_text(static_cast<double>(limit.rlim_cur)) + " (memlock)";
  std::error_code error;
  const bool has_infiniband =
      fs::exists("/sys/class/infiniband", error) && !fs::is_empty("/sys/class/infiniband", error);
  if (limit.rlim_cur == RLIM_INFINITY || !has_gpus || !has_infiniband) return ok(topic, text);
  return warning(topic, text + ": NCCL registers memory with InfiniBand, which counts",
                 "ulimit -l unlimited (LimitMEMLOCK=infinity)");
}

}  // namespace tandem::doctor
