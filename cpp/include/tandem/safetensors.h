// Tensors with names in a file: the safetensors format (https://github.com/huggingface/safetensors), which Python and
// other tools read as well.
#pragma once

#include <ATen/ATen.h>

#include <map>
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

}  // namespace tandem
