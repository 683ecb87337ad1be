// A model in several safetensors files and an index of them, as Hugging Face lays them out:
// model-00001-of-00002.safetensors, model-00002-of-00002.safetensors, model.safetensors.index.json.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/export.h"
#include "tandem/safetensors.h"

namespace tandem {

struct ShardOptions {
  std::uint64_t most_shard_bytes = 5'000'000'000;  // of tensors in a file; a larger tensor has a file of its own
  std::string name = "model";                      // with which the files' names begin
};

// Into a folder that has no such files yet; it is made where it is missing. Tensors keep their order; the metadata goes
// into each file. What fits one file becomes NAME.safetensors without an index. The index is written last, so that
// without it nothing is complete. Throws tandem::Error as save_safetensors does, and kInvalidArgument where the folder
// holds files of an earlier save, or the limit is 0.
TANDEM_API void save_sharded_safetensors(const std::string& folder, const Safetensors& content,
                                         const ShardOptions& options = {});

struct ShardLoadOptions {
  std::string name = "model";  // with which the files' names begin
  bool map = false;            // tensors are those of SafetensorsFile, which refer to the files
};

// Of an index, of a folder with one or with one .safetensors file of the name, or of a single file. Tensors come in the
// order of the index. The index's files lie beside it. Throws tandem::Error as load_safetensors does, and kDataLoss
// where the index and the files do not agree.
TANDEM_API Safetensors load_sharded_safetensors(const std::string& path, const ShardLoadOptions& options = {});

}  // namespace tandem
