#include "tandem/shared_parameters.h"

#include <ATen/ATen.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/invalid.h"
#include "base/printable.h"
#include "comm/environment_variable.h"
#include "comm/parameter_memory.h"
#include "tandem/launch_place.h"

namespace tandem {
namespace {

// Tensors begin at lines of the cache, so that steps of two processes on two tensors do not meet in one.
constexpr std::size_t kLine = 64;

// What the launcher made; that of this process alone, which its threads share, where it was started alone.
ParameterMemory& memory_of_launch() {
  static ParameterMemory* const memory = [] {
    const auto number = environment_number(kSharedParametersVariable, 0, std::numeric_limits<int>::max(),
                                           "; tandem run --shared-parameters sets it");
    if (number) {
      // Opened anew, which gives locks of its own, and nothing to programs that this one starts.
      Descriptor memory = open_file(("/proc/self/fd/" + std::to_string(*number)).c_str(), O_RDWR);
      if (!memory.valid()) {
        invalid(std::string(kSharedParametersVariable) + " names descriptor " + std::to_string(*number) +
                ", which cannot be opened (" + std::strerror(errno) +
                "); a program between tandem run and this one may have closed it");
      }
      return new ParameterMemory(std::move(memory));
    }
    if (const int processes = launch_place().world_size; processes > 1) {
      invalid("this process is one of " + std::to_string(processes) +
              " that have no memory for shared parameters; start them with tandem run --shared-parameters");
    }
    return new ParameterMemory(make_parameter_memory());
  }();
  return *memory;
}

std::string shared_name(const std::string& name) { return "shared parameter '" + name + "'"; }

void check_shared(const at::Tensor& tensor, const std::string& name) {
  if (!tensor.defined()) invalid(shared_name(name) + " is undefined");
  if (name.find('\n') != std::string::npos) invalid(shared_name(printable(name)) + " has a line break in it");
  if (tensor.layout() != at::kStrided || !tensor.device().is_cpu() || tensor.is_quantized()) {
    throw Error(ErrorCode::kUnsupported,
                shared_name(name) + " is not a dense tensor on the CPU; processes share no others");
  }
  if (tensor.requires_grad() && !tensor.is_leaf()) {
    invalid(shared_name(name) + " is the result of an operation; give the leaf tensor");
  }
  if (tensor.is_inference()) invalid(shared_name(name) + " was made in inference mode; make the module outside of it");
  if (!tensor.is_non_overlapping_and_dense()) {
    invalid(shared_name(name) + " does not fill its memory, or has elements twice in it; give a contiguous one");
  }
}

// Each tensor once.
NamedTensors each_once(const NamedTensors& given) {
  NamedTensors kept;
  std::unordered_map<const void*, std::pair<const c10::TensorImpl*, std::string>> seen;  // by storage
  for (const auto& [name, tensor] : given) {
    check_shared(tensor, name);
    const auto [found, is_new] =
        seen.try_emplace(tensor.storage().unsafeGetStorageImpl(), tensor.unsafeGetTensorImpl(), name);
    if (is_new) {
      kept.emplace_back(name, tensor);
    } else if (found->second.first != tensor.unsafeGetTensorImpl()) {
      invalid(shared_name(name) + " has its memory from '" + found->second.second + "'; give one tensor, or a copy");
    }
  }
  return kept;
}

// A line a tensor, what all processes have to agree about.
std::string describe_shared(const NamedTensors& tensors) {
  std::ostringstream text;
  for (const auto& [name, tensor] : tensors) {
    text << name << ": " << tensor.scalar_type() << " of sizes " << tensor.sizes() << " and strides "
         << tensor.strides() << '\n';
  }
  return text.str();
}

[[noreturn]] void say_difference(const std::string& own, const std::string& shared) {
  std::istringstream here(own), there(shared);
  std::string line, other;
  for (;;) {
    const bool has_one = !std::getline(here, line).fail(), has_other = !std::getline(there, other).fail();
    if (!has_one && !has_other) break;
    if (has_one && has_other && line == other) continue;
    invalid("shared parameters differ between processes: here " + (has_one ? printable(line) : "no further one") +
            ", in their memory " + (has_other ? printable(other) : "no further one") +
            "; make the same model in each, or share it under another name");
  }
  invalid("shared parameters differ between processes in size; start the same version of Tandem in each");
}

// The first tensor's memory of what this process has shared, by name.
struct SharedHere {
  std::mutex mutex;
  std::map<std::string, const void*> first;

  static SharedHere& instance() {
    static auto* instance = new SharedHere;
    return *instance;
  }

  // Two models of one process would become one. In a process that no launcher started threads share one on purpose.
  void check(const std::string& name, const at::Tensor& tensor) const {
    const auto found = first.find(name);
    if (found == first.end() || found->second == tensor.data_ptr() || !std::getenv(kSharedParametersVariable)) return;
    invalid("this process has shared another model's parameters under the name '" + name +
            "' already; give each model a name of its own (SharedParametersOptions::name)");
  }
};

}  // namespace

bool share_parameters(const NamedTensors& given, const SharedParametersOptions& options) {
  const NamedTensors tensors = each_once(given);
  ParameterMemory::Wanted wanted;
  wanted.name = options.name;
  wanted.description = describe_shared(tensors);
  std::vector<std::size_t> offsets;
  for (const auto& [name, tensor] : tensors) {
    offsets.push_back(wanted.bytes);
    wanted.bytes += (tensor.nbytes() + kLine - 1) / kLine * kLine;
  }
  const auto in_memory = [&](std::size_t i, std::byte* data, const std::shared_ptr<std::byte>& keeps) {
    const at::Tensor& tensor = tensors[i].second;
    return at::from_blob(data + offsets[i], tensor.sizes(), tensor.strides(), [keeps](void*) {},
                         tensor.options().requires_grad(false));
  };
  wanted.makes = launch_place().local_rank <= 0;
  wanted.timeout = options.timeout;
  wanted.fill = [&](std::byte* data) {
    for (std::size_t i = 0; i < tensors.size(); ++i) in_memory(i, data, nullptr).copy_(tensors[i].second.detach());
  };
  const auto part = memory_of_launch().part(wanted);
  if (part.description != wanted.description || part.bytes != wanted.bytes) {
    say_difference(wanted.description, part.description);
  }
  auto& here = SharedHere::instance();
  const std::lock_guard<std::mutex> lock(here.mutex);
  if (!tensors.empty()) here.check(options.name, tensors.front().second);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    at::Tensor tensor = tensors[i].second;
    tensor.set_data(in_memory(i, part.data.get(), part.data));
  }
  if (!tensors.empty()) here.first[options.name] = tensors.front().second.data_ptr();
  return part.made;
}

}  // namespace tandem
