// Tensors with names in a file: the safetensors format (https://github.com/huggingface/safetensors), which Python and
// other tools read as well.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/export.h"

namespace tandem {

struct Safetensors {
  std::vector<std::pair<std::string, at::Tensor>> tensors;  // in the order of their bytes in the file
  std::map<std::string, std::string> metadata;
};

// Writes beside `path` under a temporary name, syncs and renames: `path` has the old content or the new, never a part.
// Tensors of any device and strides; their elements are copied one tensor at a time. Throws tandem::Error: kNotFound
// (its folder), kIo, kInvalidArgument (a name given twice, a sparse tensor, a dtype that the format lacks).
TANDEM_API void save_safetensors(const std::string& path, const Safetensors& content);

// CPU tensors with memory of their own, so whatever becomes of the file later, they stay. Throws tandem::Error:
// kNotFound, kIo, kDataLoss naming file and tensor, also where the file is cut off meanwhile.
TANDEM_API Safetensors load_safetensors(const std::string& path);

class MappedFile;
namespace safetensors {
struct Header;
struct Entry;
}  // namespace safetensors

// A file whose tensors are seen in place, mapped: nothing is read before it is used, pages are shared with other
// processes that map it, and what is written to a tensor changes no file. Tensors that do not lie as their dtype needs
// it are copied. For programs that use a part of the file, or less than all of it at a time; replace such a file by
// renaming another to its name.
class TANDEM_API SafetensorsFile {
 public:
  // Throws tandem::Error: kNotFound, kIo, kDataLoss naming file and tensor.
  explicit SafetensorsFile(const std::string& path);

  const Safetensors& content() const& { return content_; }
  Safetensors content() && { return std::move(content_); }
  // Throws Error(kDataLoss) or Error(kIo) where the file is known to have lost bytes since it was mapped: by then they
  // were zeros. To be called after the tensors were read.
  void check() const;

 private:
  at::Tensor seen(const safetensors::Header& header, const safetensors::Entry& entry) const;

  std::shared_ptr<const MappedFile> file_;
  Safetensors content_;
};

}  // namespace tandem
