#include "tandem/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "nn/safetensors_header.h"
#include "tandem/error.h"

namespace tandem {
namespace {

struct Name {
  at::ScalarType dtype;
  const char* name;
};
constexpr Name kNames[] = {{at::kBool, "BOOL"},
                           {at::kByte, "U8"},
                           {at::kChar, "I8"},
                           {at::kFloat8_e5m2, "F8_E5M2"},
                           {at::kFloat8_e4m3fn, "F8_E4M3"},
                           {at::kUInt16, "U16"},
                           {at::kShort, "I16"},
                           {at::kHalf, "F16"},
                           {at::kBFloat16, "BF16"},
                           {at::kUInt32, "U32"},
                           {at::kInt, "I32"},
                           {at::kFloat, "F32"},
                           {at::kUInt64, "U64"},
                           {at::kLong, "I64"},
                           {at::kDouble, "F64"},
                           {at::kComplexFloat, "C64"}};

[[noreturn]] void fail_io(const std::string& what) {
  const int number = errno;
  throw Error(number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, what + ": " + std::strerror(number));
}

const char* dtype_name(const std::string& tensor, at::ScalarType dtype) {
  for (const Name& known : kNames) {
    if (known.dtype == dtype) return known.name;
  }
  throw Error(ErrorCode::kInvalidArgument, "tensor '" + tensor + "' is of dtype " + at::toString(dtype) +
                                               ", which the safetensors format lacks; convert it first");
}

// Bytes [begin, begin + size) of the file.
void read_bytes(const Descriptor& file, const std::string& path, std::uint64_t begin, void* to, std::uint64_t size) {
  const std::size_t read = read_all_at(file.get(), to, size, static_cast<off_t>(begin));
  if (read == size) return;
  if (errno != ENODATA) fail_io("cannot read " + path);
  throw Error(ErrorCode::kDataLoss, path + " was cut off at byte " + std::to_string(begin + read) +
                                        " while it was read; restore it, and replace files that are in use by " +
                                        "renaming others to their names");
}

}  // namespace

void save_safetensors(const std::string& path, const Safetensors& content) {
  safetensors::Header header;
  header.metadata = content.metadata;
  std::set<std::string> names{"__metadata__"};
  for (const auto& [name, tensor] : content.tensors) {
    if (!names.insert(name).second) {
      throw Error(ErrorCode::kInvalidArgument, "the name '" + name + "' is given twice, or is reserved");
    }
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta()) {
      throw Error(ErrorCode::kInvalidArgument, "tensor '" + name + "' is not dense, or has no elements to save");
    }
    header.entries.push_back({name, dtype_name(name, tensor.scalar_type()), tensor.sizes().vec(), 0, 0});
  }
  // By falling size of element, so that each tensor is aligned for its own.
  std::vector<std::size_t> order(content.tensors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return content.tensors[a].second.element_size() > content.tensors[b].second.element_size();
  });
  safetensors::Header placed;
  placed.metadata = header.metadata;
  for (const std::size_t i : order) placed.entries.push_back(header.entries[i]);
  const std::string start = safetensors::format(placed);

  at::NoGradGuard no_grad;
  AtomicFile file(path);
  file.append(start.data(), start.size());
  for (const std::size_t i : order) {
    const at::Tensor plain = content.tensors[i].second.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
    if (plain.numel() != 0) file.append(plain.const_data_ptr(), plain.nbytes());
  }
  file.commit();
}

Safetensors load_safetensors(const std::string& path) {
  const Descriptor file = open_file(path.c_str(), O_RDONLY);
  if (!file.valid()) fail_io("cannot open " + path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_io("cannot read " + path);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::kInvalidArgument, path + " is no regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) throw Error(ErrorCode::kDataLoss, path + " is not a valid safetensors file: it is empty");
  // Into memory of the tensors' own, not a map of the file: where the file is cut off under a map, whoever uses a
  // tensor ends the process.
  std::string start(std::min<std::size_t>(size, safetensors::kLengthBytes), '\0');
  read_bytes(file, path, 0, start.data(), start.size());
  const std::uint64_t rest = std::min<std::uint64_t>(safetensors::header_bytes(start), size - start.size());
  const std::size_t before = start.size();
  start.resize(before + rest);
  read_bytes(file, path, before, start.data() + before, rest);

  safetensors::Header header = safetensors::parse(path, start, size);
  Safetensors content;
  content.metadata = std::move(header.metadata);
  for (auto& entry : header.entries) {
    const auto known =
        std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& name) { return entry.dtype == name.name; });
    at::Tensor tensor = at::empty(entry.sizes, at::TensorOptions(known->dtype));
    const std::uint64_t bytes = entry.end - entry.begin;
    if (bytes > 0) read_bytes(file, path, header.data + entry.begin, tensor.mutable_data_ptr(), bytes);
    content.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return content;
}

}  // namespace tandem
