// What becomes of a batch between its data set and the program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/loader/device_copies.h"
#include "tandem/loader.h"

namespace tandem::loader {

class BatchSteps {
 public:
  // Batches that `copies`, where there are any, will take to a device are in pinned memory as well. Throws
  // Error(kUnsupported) for pinned memory without CUDA.
  BatchSteps(std::vector<std::string> loaded_names, std::vector<std::shared_ptr<BatchTransform>> transforms,
             bool pin_memory, std::shared_ptr<DeviceCopies> copies);

  void add(std::shared_ptr<BatchTransform> transform);
  // Of the batch's tensors in the end.
  const std::shared_ptr<const std::vector<std::string>>& names() const { return names_; }
  const std::shared_ptr<DeviceCopies>& copies() const { return copies_; }
  // Fills in names and tensors of a batch whose other fields are set. Any thread, several at once, here and below.
  void fill(Dataset& dataset, LoadedBatch& batch) const;
  // The halves of fill(), for a batch with rows.
  void load(Dataset& dataset, LoadedBatch& batch) const;
  void finish(const Dataset& dataset, LoadedBatch& batch) const;

 private:
  void transform(const Dataset& dataset, LoadedBatch& batch) const;
  void pin(LoadedBatch& batch) const;

  std::vector<std::string> loaded_names_;  // the data set's
  std::vector<std::shared_ptr<BatchTransform>> transforms_;
  bool pin_memory_;
  std::shared_ptr<DeviceCopies> copies_;
  std::shared_ptr<const std::vector<std::string>> names_;
};

}  // namespace tandem::loader
