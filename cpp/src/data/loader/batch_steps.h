// What becomes of a batch between its data set and the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tandem/loader.h"

namespace tandem::loader {

class BatchSteps {
 public:
  // Throws Error(kUnsupported) for pinned memory without CUDA.
  BatchSteps(std::vector<std::string> loaded_names, std::vector<std::shared_ptr<BatchTransform>> transforms,
             bool pin_memory);

  void add(std::shared_ptr<BatchTransform> transform);
  // Of the batch's tensors in the end.
  const std::shared_ptr<const std::vector<std::string>>& names() const { return names_; }
  // Fills in names and tensors of a batch whose other fields are set. Any thread, several at once.
  void fill(Dataset& dataset, LoadedBatch& batch) const;

 private:
  void transform(const Dataset& dataset, LoadedBatch& batch) const;

  std::vector<std::string> loaded_names_;  // the data set's
  std::vector<std::shared_ptr<BatchTransform>> transforms_;
  bool pin_memory_;
  std::shared_ptr<const std::vector<std::string>> names_;
};

}  // namespace tandem::loader
