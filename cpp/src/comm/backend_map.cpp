#include "comm/backend_map.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr BackendKind kKinds[] = {BackendKind::kGloo, BackendKind::kNccl, BackendKind::kShm, BackendKind::kAuto,
                                  BackendKind::kNone};
constexpr DeviceKind kDevices[] = {DeviceKind::kCpu, DeviceKind::kCuda};

BackendKind kind_of(const std::string& name) {
  for (const BackendKind kind : kKinds) {
    if (name == name_of(kind)) return kind;
  }
  throw Error(ErrorCode::kUnsupported, "there is no backend '" + name + "'; Tandem has gloo, nccl, shm, auto and none");
}

// The parts of a map, each "device:backend".
class MapParser {
 public:
  explicit MapParser(const std::string& names) : names_(names) {}

  std::vector<BackendEntry> run() {
    for (std::size_t begin = 0; begin <= names_.size();) {
      const std::size_t end = std::min(names_.find(',', begin), names_.size());
      add(names_.substr(begin, end - begin));
      begin = end + 1;
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const BackendEntry& a, const BackendEntry& b) {
      return *std::min_element(a.devices.begin(), a.devices.end()) <
             *std::min_element(b.devices.begin(), b.devices.end());
    });
    return std::move(entries_);
  }

 private:
  void add(const std::string& part) {
    const auto colon = part.find(':');
    if (colon == std::string::npos) {
      refuse(part.empty() ? "a part of it is empty" : "'" + part + "' names no device, as cpu:" + part + " does");
    }
    const DeviceKind device = device_of(part.substr(0, colon));
    BackendKind kind = kind_of(part.substr(colon + 1));
    if (kind == BackendKind::kAuto && device == DeviceKind::kCuda) kind = BackendKind::kNccl;
    check(device, kind);
    for (const BackendEntry& entry : entries_) {
      if (std::count(entry.devices.begin(), entry.devices.end(), device) == 0) continue;
      refuse(std::string("it names ") + name_of(device) + " twice; give each device one backend");
    }
    const auto same =
        std::find_if(entries_.begin(), entries_.end(), [&](const BackendEntry& entry) { return entry.kind == kind; });
    if (same == entries_.end()) {
      entries_.push_back({kind, {device}});
    } else {
      same->devices.push_back(device);
    }
  }

  DeviceKind device_of(const std::string& name) const {
    for (const DeviceKind device : kDevices) {
      if (name == name_of(device)) return device;
    }
    refuse("there is no device '" + name + "'; Tandem has cpu and cuda");
  }

  void check(DeviceKind device, BackendKind kind) const {
    if (kind == BackendKind::kNone) refuse("none exchanges nothing, on whatever device; give it alone");
    if (kind == BackendKind::kNccl && device == DeviceKind::kCpu) {
      refuse("nccl takes tensors on GPUs; give cpu the backend shm, gloo or auto");
    }
    if (kind == BackendKind::kShm && device == DeviceKind::kCuda) {
      refuse("shm takes tensors on the CPU; give cuda the backend nccl or gloo");
    }
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorCode::kInvalidArgument, "backend '" + names_ + "': " + reason);
  }

  const std::string& names_;
  std::vector<BackendEntry> entries_;
};

}  // namespace

const char* name_of(BackendKind kind) {
  constexpr const char* kNames[] = {"gloo", "nccl", "none", "shm", "auto"};
  return kNames[static_cast<int>(kind)];
}

const char* name_of(DeviceKind device) {
  return device == DeviceKind::kCpu ? "cpu" : "cuda";
}

std::vector<BackendEntry> parse_backends(const std::string& names, bool has_gpu) {
  if (names.find_first_of(":,") != std::string::npos) return MapParser(names).run();
  const BackendKind kind = kind_of(names);
  return {{kind == BackendKind::kAuto && has_gpu ? BackendKind::kNccl : kind, {}}};
}

std::string name_of(const std::vector<BackendEntry>& entries) {
  std::string text;
  for (const DeviceKind device : kDevices) {
    for (const BackendEntry& entry : entries) {
      if (entry.devices.empty()) return name_of(entry.kind);
      if (std::count(entry.devices.begin(), entry.devices.end(), device) == 0) continue;
      text += (text.empty() ? "" : ",") + std::string(name_of(device)) + ":" + name_of(entry.kind);
    }
  }
  return text;
}

}  // namespace tandem
