// Files of Python's torch.save, usually FILE.pt or FILE.pth: state dicts, optimizers' states, checkpoints of both.
//
// A pickle is a program of Python. Here it is read, not run: what it may hold are tensors and the plain values below,
// and whatever else it asks for is refused by name. Files that are written here open with
// torch.load(weights_only=True).
#pragma once

#include <ATen/ATen.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/export.h"
#include "tandem/named_tensors.h"

namespace tandem {

class MappedFile;
struct PtItem;
struct PtValue;

struct PtBytes {
  std::string bytes;
};
struct PtList {
  std::vector<PtValue> items;
};
// Of torch.Size, too.
struct PtTuple {
  std::vector<PtValue> items;
};
struct PtSet {
  std::vector<PtValue> items;
};
struct PtDict {
  std::vector<PtItem> items;  // in their order
  bool ordered = false;       // whether it is a collections.OrderedDict
  // Of an OrderedDict: a module's state_dict has `_metadata`, with the versions of its modules.
  std::vector<PtItem> attributes = {};
};
// A storage that stands alone is a tensor of one dimension.
struct PtTensor {
  at::Tensor tensor;
  bool is_parameter = false;  // a torch.nn.Parameter
};

// A value as Python has it; std::monostate is None.
struct PtValue {
  using Any = std::variant<std::monostate, bool, std::int64_t, double, std::complex<double>, std::string, PtBytes,
                           PtList, PtTuple, PtSet, PtDict, PtTensor, at::ScalarType, at::Device>;
  PtValue() = default;
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, PtValue> && !std::is_integral_v<std::remove_cvref_t<T>> &&
             !std::is_same_v<std::remove_cvref_t<T>, at::Tensor> && std::is_constructible_v<Any, T &&>)
  PtValue(T&& value) : value(std::forward<T>(value)) {}
  template <typename T>
    requires(std::is_integral_v<T>)
  PtValue(T number) {
    if constexpr (std::is_same_v<T, bool>) {
      value = number;
    } else {
      value = static_cast<std::int64_t>(number);
    }
  }
  PtValue(const char* text) : value(std::string(text)) {}
  PtValue(at::Tensor tensor) : value(PtTensor{std::move(tensor), false}) {}

  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  // What a dict has under this name; null where there is none, or this is no dict.
  TANDEM_API const PtValue* find(std::string_view name) const;
  // Throws Error(kNotFound), which names what there is.
  TANDEM_API const PtValue& at(std::string_view name) const;

  Any value;
};

struct PtItem {
  PtValue key;
  PtValue value;
};

struct PtReadOptions {
  // Tensors get memory of their own, so that it does not matter what becomes of the file. Otherwise they refer to the
  // file, mapped: nothing is read before it is used, and what is written to a tensor changes no file. Storages that do
  // not begin at a multiple of 64 bytes, as in the legacy format, are copied all the same.
  bool copy = false;
  // Compares each storage with its checksum, which reads all of the file. The pickle's is always compared.
  bool check_crc = false;
  // How many values the file may hold, those in several places counted in each; a text of 256 bytes counts as one, a
  // tensor as eight.
  std::uint64_t most_values = std::uint64_t{1} << 22;
};

// A file of torch.save, in its zip format or the legacy one. Tensors are on the CPU, wherever they were; views of one
// storage share it. Nothing of it is run.
class TANDEM_API PtFile {
 public:
  // Throws tandem::Error: kNotFound, kIo; kUnsupported where it wants what is not allowed, which is named with its
  // byte; kDataLoss where it is damaged.
  explicit PtFile(const std::string& path, const PtReadOptions& options = {});

  const PtValue& value() const& { return value_; }
  PtValue value() && { return std::move(value_); }
  // Throws Error(kDataLoss) or Error(kIo) where the file is known to have lost bytes since it was mapped: by then they
  // were zeros. To be called after the tensors were read. Finds nothing where all were copied.
  void check() const;

 private:
  std::shared_ptr<const MappedFile> file_;
  PtValue value_;
};

// The value of PtFile.
TANDEM_API PtValue load_pt(const std::string& path, const PtReadOptions& options = {});

// Writes what torch.load(path, weights_only=True) gives back, in the zip format, beside `path` under a temporary name;
// syncs and renames: `path` has the old content or the new, never a part. Tensors of any device and strides; each
// storage is written once and whole, as torch.save does (so clone() a small view of a large one), once more for each
// dtype in which it is seen. Throws tandem::Error: kNotFound (its folder), kIo, kInvalidArgument (a tensor that is
// sparse, quantized or has no elements to save, text that is not UTF-8, values nested more than 200 deep, or within
// dicts a key twice).
TANDEM_API void save_pt(const std::string& path, const PtValue& value);

// The names and tensors of a state dict. Throws Error(kInvalidArgument) where it is none, saying what it holds instead.
TANDEM_API NamedTensors tensors_of(const PtValue& state_dict);
// A state dict, as a module's state_dict() gives one.
TANDEM_API PtValue state_dict_of(const NamedTensors& tensors);

}  // namespace tandem
