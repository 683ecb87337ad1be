// Tensors in files: safetensors, and Python's torch.save.
#pragma once

#include <string>
#include <vector>

#include "tandem/abi/tensor.hpp"
#include "tandem/abi/value.hpp"

namespace tandem::abi {

// Writes tensors and text metadata: to a temporary name, synced, renamed. With shard_bytes above 0 `path` is a folder
// for several files of at most that size, and an index.
inline void save_safetensors(const std::string& path, const std::vector<std::string>& names, const TensorList& tensors,
                             const std::vector<std::string>& metadata_keys = {},
                             const std::vector<std::string>& metadata_values = {}, int64_t shard_bytes = 0) {
  if (names.size() != tensors.size() || metadata_keys.size() != metadata_values.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "save_safetensors", "names and values differ in number");
  }
  const auto pointers = c_strings(names), keys = c_strings(metadata_keys), values = c_strings(metadata_values);
  if (shard_bytes > 0) {
    check(tdm_safetensors_save_sharded(path.c_str(), pointers.data(), tensors.data(), tensors.size(), keys.data(),
                                       values.data(), keys.size(), shard_bytes));
  } else {
    check(tdm_safetensors_save(path.c_str(), pointers.data(), tensors.data(), tensors.size(), keys.data(),
                               values.data(), keys.size()));
  }
}

// Of a file, an index or a folder.
class Checkpoint {
 public:
  // Tensors refer to the file where `map`. Errors: TDM_ERROR_NOT_FOUND, TDM_ERROR_DATA_LOSS.
  explicit Checkpoint(const std::string& path, bool map = false) : tensors_(nullptr) {
    tdm_safetensors_load_options options = TDM_SAFETENSORS_LOAD_OPTIONS_INIT;
    options.mapped = map;
    tdm_named_tensors* list = nullptr;
    tdm_strings *keys = nullptr, *values = nullptr;
    check(tdm_safetensors_load(path.c_str(), &options, &list, &keys, &values));
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

// One result: what a file of torch.save holds. Tensors refer to the file, mapped, unless `copy`.
inline Results load_pt(const std::string& path, bool copy = false, bool check_crc = false) {
  tdm_pt_load_options options = TDM_PT_LOAD_OPTIONS_INIT;
  options.copy = copy;
  options.check_crc = check_crc;
  Results value(1);
  check(tdm_pt_load(path.c_str(), &options, value.data()));
  return value;
}

// Writes one value, for Python's torch.load(path, weights_only=True).
inline void save_pt(const std::string& path, const Arguments& value) {
  check(tdm_pt_save(path.c_str(), one(value)));
}

// Names by rules, one after the other: regular expressions of ECMAScript, and what their matches become.
inline std::vector<std::string> replace_names(const std::vector<std::string>& names,
                                              const std::vector<std::string>& patterns,
                                              const std::vector<std::string>& replacements) {
  if (patterns.size() != replacements.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "replace_names", "patterns and replacements differ in number");
  }
  const auto given = c_strings(names), from = c_strings(patterns), to = c_strings(replacements);
  tdm_strings* replaced = nullptr;
  check(tdm_names_replace(given.data(), given.size(), from.data(), to.data(), from.size(), &replaced));
  return take_strings(replaced);
}

// Tensors copied into those of the same names, and which names were without a partner.
class Match {
 public:
  // All or nothing. Where strict, missing and unexpected names are errors.
  Match(const std::vector<std::string>& into_names, const TensorList& into, const std::vector<std::string>& from_names,
        const TensorList& from, bool strict, bool convert_dtype) {
    if (into_names.size() != into.size() || from_names.size() != from.size()) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Match", "names and tensors differ in number");
    }
    const auto into_pointers = c_strings(into_names), from_pointers = c_strings(from_names);
    Handle<tdm_strings, tdm_strings_free> missing, unexpected;
    check(tdm_tensors_load(into_pointers.data(), into.data(), into.size(), from_pointers.data(), from.data(),
                           from.size(), strict, convert_dtype, missing.out(), unexpected.out()));
    missing_ = take_strings(missing.release());
    unexpected_ = take_strings(unexpected.release());
  }
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& unexpected() const { return unexpected_; }

 private:
  std::vector<std::string> missing_, unexpected_;
};

// Whether what processes share begins as these tensors, which are in their memory then: tdm_share_parameters().
inline bool share_parameters(const std::vector<std::string>& names, const TensorList& tensors, const std::string& model,
                             int64_t timeout_ms) {
  if (names.size() != tensors.size()) {
    throw Error(TDM_ERROR_INVALID_ARGUMENT, "share_parameters", "give one name for each tensor");
  }
  const auto pointers = c_strings(names);
  int32_t made = 0;
  check(tdm_share_parameters(pointers.data(), tensors.data(), tensors.size(), model.c_str(), timeout_ms, &made));
  return made != 0;
}

}  // namespace tandem::abi
