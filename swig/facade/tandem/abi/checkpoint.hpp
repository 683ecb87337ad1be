// Safetensors files.
#pragma once

#include <string>
#include <vector>

#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// Writes tensors and text metadata: to a temporary name, synced, renamed.
inline void save_safetensors(const std::string& path, const std::vector<std::string>& names, const TensorList& tensors,
                             const std::vector<std::string>& metadata_keys = {},
                             const std::vector<std::string>& metadata_values = {}) {
  if (names.size() != tensors.size() || metadata_keys.size() != metadata_values.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "save_safetensors", "names and values differ in number");
  }
  const auto pointers = c_strings(names), keys = c_strings(metadata_keys), values = c_strings(metadata_values);
  check(tdm_safetensors_save(path.c_str(), pointers.data(), tensors.data(), tensors.size(), keys.data(), values.data(),
                             keys.size()));
}

class Checkpoint {
 public:
  // Errors: TDM_ERROR_NOT_FOUND, TDM_ERROR_DATA_LOSS.
  explicit Checkpoint(const std::string& path) : tensors_(nullptr) {
    tdm_named_tensors* list = nullptr;
    tdm_strings *keys = nullptr, *values = nullptr;
    check(tdm_safetensors_load(path.c_str(), &list, &keys, &values));
    tensors_ = NamedTensors(list);
    Handle<tdm_strings, tdm_strings_free> owned(values);
    keys_ = take_strings(keys);
    values_ = take_strings(owned.release());
  }
  const NamedTensors& tensors() const { return tensors_; }
  size_t size() const { return tensors_.size(); }
  std::string name(size_t index) const { return tensors_.name(index); }
  Tensor tensor(size_t index) const { return tensors_.tensor(index); }
  const std::vector<std::string>& metadata_keys() const { return keys_; }
  const std::vector<std::string>& metadata_values() const { return values_; }

 private:
  NamedTensors tensors_;
  std::vector<std::string> keys_, values_;
};

}  // namespace tandem::abi
