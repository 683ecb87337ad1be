// What becomes of a batch between its data set and the program.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "data/loader/device_copies.h"
#include "data/loader/io_retry.h"
#include "tandem/loader.h"

namespace tandem::loader {

// What the data set's batches are like, by those that were loaded. Thread-safe.
class KnownShapes {
 public:
  void learn(const std::vector<at::Tensor>& batch, std::int64_t rows);
  // So many rows of zeros; nothing where no batch was loaded, or one that has more than a row a sample in a tensor.
  std::optional<std::vector<at::Tensor>> blank(std::int64_t rows) const;

 private:
  struct Field {
    at::ScalarType dtype;
    std::vector<std::int64_t> sizes;  // of a row
  };
  mutable std::mutex mutex_;
  std::vector<Field> fields_;
};

class BatchSteps {
 public:
  // Batches that `copies`, where there are any, will take to a device are in pinned memory as well. Throws
  // Error(kUnsupported) for pinned memory without CUDA.
  BatchSteps(std::vector<std::string> loaded_names, std::vector<std::shared_ptr<BatchTransform>> transforms,
             bool pin_memory, std::shared_ptr<DeviceCopies> copies, const IoPolicy& io);

  void add(std::shared_ptr<BatchTransform> transform);
  // Of the batch's tensors in the end.
  const std::shared_ptr<const std::vector<std::string>>& names() const { return names_; }
  const std::shared_ptr<DeviceCopies>& copies() const { return copies_; }
  // Fills in names and tensors of a batch whose other fields are set. Any thread, several at once, here and below.
  void fill(Dataset& dataset, LoadedBatch& batch) const;
  // The halves of fill(), for a batch with rows. What cannot be read is read again, or left out of the batch, which has
  // no tensors where nothing is left of it.
  void load(Dataset& dataset, LoadedBatch& batch) const;
  void finish(const Dataset& dataset, LoadedBatch& batch) const;
  // What `read` gives, tried again as the policy says.
  template <typename Read>
  auto reading(Read&& read) const {
    return with_io_retries(io_, *trouble_, read);
  }
  const IoPolicy& io() const { return io_; }
  // What is being tried again, for messages: "; waiting for …", or "".
  std::string trouble() const;

 private:
  void transform(const Dataset& dataset, LoadedBatch& batch) const;
  void pin(LoadedBatch& batch) const;
  void leave_out_unreadable(Dataset& dataset, LoadedBatch& batch) const;
  std::vector<at::Tensor> without_samples(Dataset& dataset, const LoadedBatch& batch, std::int64_t rows) const;

  std::vector<std::string> loaded_names_;  // the data set's
  std::vector<std::shared_ptr<BatchTransform>> transforms_;
  bool pin_memory_;
  std::shared_ptr<DeviceCopies> copies_;
  std::shared_ptr<const std::vector<std::string>> names_;
  IoPolicy io_;
  std::shared_ptr<KnownShapes> shapes_ = std::make_shared<KnownShapes>();  // likewise
  std::shared_ptr<IoTrouble> trouble_ = std::make_shared<IoTrouble>();  // that of all copies of this
};

}  // namespace tandem::loader
