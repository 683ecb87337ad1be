#include "weights/safetensors_file.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>

#include "tandem/error.h"

namespace tandem::safetensors {
namespace {

struct DtypeName {
  at::ScalarType dtype;
  const char* name;
};
constexpr DtypeName kDtypeNames[] = {{at::kBool, "BOOL"},
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
  for (const DtypeName& known : kDtypeNames) {
    if (known.dtype == dtype) return known.name;
  }
  throw Error(ErrorCode::kInvalidArgument, "tensor '" + tensor + "' is of dtype " + at::toString(dtype) +
                                               ", which the safetensors format lacks; convert it first");
}

}  // namespace

Layout lay_out(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
  std::set<std::string> names{"__metadata__"};
  for (const auto& [name, tensor] : tensors) {
    if (!names.insert(name).second) {
      throw Error(ErrorCode::kInvalidArgument, "the name '" + name + "' is given twice, or is reserved");
    }
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_meta()) {
      throw Error(ErrorCode::kInvalidArgument, "tensor '" + name + "' is not dense, or has no elements to save");
    }
  }
  Layout layout;
  // By falling size of element, so that each tensor is aligned for its own.
  layout.order.resize(tensors.size());
  std::iota(layout.order.begin(), layout.order.end(), 0);
  std::stable_sort(layout.order.begin(), layout.order.end(), [&](std::size_t a, std::size_t b) {
    return tensors[a].second.element_size() > tensors[b].second.element_size();
  });
  Header header;
  header.metadata = metadata;
  for (const std::size_t i : layout.order) {
    const auto& [name, tensor] = tensors[i];
    header.entries.push_back({name, dtype_name(name, tensor.scalar_type()), tensor.sizes().vec(), 0, 0});
  }
  layout.start = format(header);
  return layout;
}

at::Tensor plain(const at::Tensor& tensor) {
  at::NoGradGuard no_grad;
  return tensor.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
}

OpenFile::OpenFile(std::string path) : path_(std::move(path)), file_(open_file(path_.c_str(), O_RDONLY)) {
  if (!file_.valid()) fail_io("cannot open " + path_);
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) fail_io("cannot read " + path_);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::kIo, path_ + " is no regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ == 0) throw Error(ErrorCode::kDataLoss, path_ + " is not a valid safetensors file: it is empty");
  start_.resize(std::min<std::size_t>(size_, kLengthBytes));
  read_at(0, start_.data(), start_.size());
  const std::size_t before = start_.size();
  start_.resize(before + std::min<std::uint64_t>(header_bytes(start_), size_ - before));
  read_at(before, start_.data() + before, start_.size() - before);
  header_ = parse(path_, start_, size_);
}

void OpenFile::read_at(std::uint64_t begin, void* to, std::size_t size) const {
  const std::size_t read = read_all_at(file_.get(), to, size, static_cast<off_t>(begin));
  if (read == size) return;
  if (errno != ENODATA) fail_io("cannot read " + path_);
  throw Error(ErrorCode::kDataLoss, path_ + " was cut off at byte " + std::to_string(begin + read) +
                                        " while it was read; restore it, and replace files that are in use by " +
                                        "renaming others to their names");
}

void OpenFile::read(const Entry& entry, void* to, const Look& look) const {
  const std::uint64_t size = entry.end - entry.begin;
  const std::uint64_t step = look ? kBlock : std::max<std::uint64_t>(size, 1);
  for (std::uint64_t done = 0; done < size; done += step) {
    const std::size_t now = std::min(step, size - done);
    auto* block = static_cast<char*>(to) + done;
    read_at(header_.data + entry.begin + done, block, now);
    if (look) look(block, now);
  }
}

at::ScalarType scalar_type(const Entry& entry) {
  const auto* known = std::find_if(std::begin(kDtypeNames), std::end(kDtypeNames),
                                   [&](const DtypeName& each) { return entry.dtype == each.name; });
  return known->dtype;  // parse() knows the same names
}

}  // namespace tandem::safetensors
