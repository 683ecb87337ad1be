#include "data/loader/batch_steps.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <chrono>
#include <typeinfo>

#include "data/interruption.h"
#include "data/loader/stage_clock.h"
#include "tandem/error.h"

namespace tandem::loader {
namespace {

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

std::string place_of(const LoadedBatch& batch) {
  return "batch " + std::to_string(batch.number) + " of epoch " + std::to_string(batch.epoch);
}

// Of several GPUs only the one that is copied to is to be set up by this process, also by steps and for pinned memory.
struct Surroundings {
  explicit Surroundings(const std::shared_ptr<DeviceCopies>& copies)
      : on_device(copies ? std::optional(copies->device()) : std::nullopt) {}
  at::NoGradGuard no_grad;
  c10::OptionalDeviceGuard on_device;
};

// Without gaps, which a copy to a device would have to fill on the CPU first.
at::Tensor pinned(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided || tensor.is_non_overlapping_and_dense()) return tensor.pin_memory();
  return at::empty_like(tensor, tensor.options().pinned_memory(true)).copy_(tensor);
}

}  // namespace

BatchSteps::BatchSteps(std::vector<std::string> loaded_names, std::vector<std::shared_ptr<BatchTransform>> transforms,
                       bool pin_memory, std::shared_ptr<DeviceCopies> copies, const IoPolicy& io)
    : loaded_names_(std::move(loaded_names)),
      pin_memory_(pin_memory || copies),
      copies_(std::move(copies)),
      names_(std::make_shared<const std::vector<std::string>>(loaded_names_)),
      io_(io) {
  check_io_policy(io_);
  if (pin_memory && !copies_ && !at::globalContext().hasCUDA()) {
    throw Error(
        ErrorCode::kUnsupported,
        "pin_memory is for copies to a GPU, but this process runs without CUDA; turn it off, or see load_cuda()");
  }
  for (auto& transform : transforms) add(std::move(transform));
}

void BatchSteps::add(std::shared_ptr<BatchTransform> transform) {
  if (!transform) throw Error(ErrorCode::kInvalidArgument, "there is no transform to add");
  names_ = std::make_shared<const std::vector<std::string>>(transform->names_after(*names_));
  transforms_.push_back(std::move(transform));
}

void BatchSteps::transform(const Dataset& dataset, LoadedBatch& batch) const {
  const InStage stage(Stage::kTransforming);
  Batch changing{loaded_names_, std::move(batch.tensors), batch.randomness};
  changing.sample_randomness.resize(static_cast<std::size_t>(std::max<std::int64_t>(batch.rows, 1)));
  try {
    for (const auto& transform : transforms_) transform->apply(changing);
    if (changing.names != *names_ || (!names_->empty() && names_->size() != changing.tensors.size())) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the steps left fields " + list(changing.names) + " and " + std::to_string(changing.tensors.size()) +
                      " tensors, but were to leave " + list(*names_) + "; a custom step says which fields it adds");
    }
    for (const at::Tensor& tensor : changing.tensors) {
      if (!tensor.defined()) throw Error(ErrorCode::kInvalidArgument, "a step left a field without a tensor");
    }
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;  // what a callback gave, which is its program's
    std::string of = "cannot transform " + place_of(batch);
    if (!batch.samples.empty()) {
      of += " (" + dataset.place(batch.samples[0]);
      if (batch.samples.size() > 1) of += " and " + std::to_string(batch.samples.size() - 1) + " more";
      of += ")";
    }
    throw Error(error.code(), of + ": " + error.what());
  }
  batch.tensors = std::move(changing.tensors);
}

// What a step has put on a device already stays there.
void BatchSteps::pin(LoadedBatch& batch) const {
  const InStage stage(Stage::kPinning);
  for (std::size_t i = 0; i < batch.tensors.size(); ++i) {
    at::Tensor& tensor = batch.tensors[i];
    if (copies_ && tensor.layout() != at::kStrided) {
      throw Error(ErrorCode::kInvalidArgument,
                  "cannot copy " + place_of(batch) + " to " + copies_->device().str() + ": " +
                      (i < names_->size() ? "field '" + (*names_)[i] + "'" : "tensor " + std::to_string(i)) +
                      " is not dense; make it so in the last step, or leave the loader's device unset");
    }
    if (!copies_ || tensor.is_cpu()) tensor = pinned(tensor);
  }
}

void BatchSteps::load(Dataset& dataset, LoadedBatch& batch) const {
  const Surroundings surroundings(copies_);
  batch.names = names_;
  const auto load_all = [&] { return dataset.get_random_batch(batch.samples, batch.randomness, batch.rows); };
  for (bool again = false;; again = true) {
    const std::int64_t before = batch.skipped;
    if (batch.samples.empty() && batch.skipped > 0) return;
    try {
      batch.tensors = reading(load_all);
      if (io_.on_error == OnIoError::kSkip && batch.rows > 0) shapes_->learn(batch.tensors, batch.rows);
      return;
    } catch (const std::exception& error) {
      if (failure_of(error) != LoadFailure::kIo || io_.on_error != OnIoError::kSkip || batch.samples.empty()) throw;
    }
    leave_out_unreadable(dataset, batch);
    if (batch.skipped > before || !again) continue;
    batch.tensors = reading(load_all);  // each can be read, but they cannot together
    return;
  }
}

// One sample at least, or all that cannot be read: the batch could not be read as a whole for as long as the policy
// says. Looking for them has that long again, behind which those that are left count as unreadable.
void BatchSteps::leave_out_unreadable(Dataset& dataset, LoadedBatch& batch) const {
  const bool padded = batch.rows > static_cast<std::int64_t>(batch.samples.size());
  std::vector<std::int64_t> samples;
  std::vector<std::uint64_t> randomness;
  const auto deadline = std::chrono::steady_clock::now() + io_.retry;
  bool failed = false;
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    if (is_interrupted()) throw Error(ErrorCode::kAborted, "nobody waits for " + place_of(batch) + " any more");
    if (failed && std::chrono::steady_clock::now() >= deadline) break;
    try {
      dataset.get_random_batch({&batch.samples[i], 1}, {&batch.randomness[i], 1}, 1);
      samples.push_back(batch.samples[i]);
      randomness.push_back(batch.randomness[i]);
    } catch (const std::exception& error) {
      if (failure_of(error) != LoadFailure::kIo) throw;
      failed = true;
    }
  }
  batch.skipped += static_cast<std::int64_t>(batch.samples.size() - samples.size());
  batch.samples = std::move(samples);
  batch.randomness = std::move(randomness);
  batch.local_count = static_cast<std::int64_t>(batch.samples.size());
  if (!padded) batch.rows = batch.local_count;
}

// Data sets may take sample 0 for the shapes of a batch that has none, which may be what cannot be read.
std::vector<at::Tensor> BatchSteps::without_samples(Dataset& dataset, const LoadedBatch& batch,
                                                    std::int64_t rows) const {
  if (auto known = shapes_->blank(rows); known && batch.skipped > 0) return *std::move(known);
  const auto blank = [&] { return dataset.get_random_batch({}, {}, rows); };
  if (batch.skipped == 0 && io_.on_error != OnIoError::kSkip) return reading(blank);
  try {
    return batch.skipped == 0 ? reading(blank) : blank();  // what was waited for is not waited for again
  } catch (const std::exception& error) {
    if (failure_of(error) != LoadFailure::kIo) throw;
    if (auto known = shapes_->blank(rows)) return *std::move(known);
    std::throw_with_nested(
        Error(dynamic_cast<const Error&>(error).code(),
              "there are no samples in " + place_of(batch) +
                  ", and none was read before that would tell the shapes of its tensors: " + error.what()));
  }
}

void KnownShapes::learn(const std::vector<at::Tensor>& batch, std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  if (!fields_.empty()) return;
  std::vector<Field> fields;
  for (const at::Tensor& tensor : batch) {
    if (tensor.layout() != at::kStrided || tensor.dim() == 0 || tensor.size(0) != rows) return;
    fields.push_back({tensor.scalar_type(), tensor.sizes().slice(1).vec()});
  }
  fields_ = std::move(fields);
}

std::optional<std::vector<at::Tensor>> KnownShapes::blank(std::int64_t rows) const {
  const std::lock_guard lock(mutex_);
  if (fields_.empty()) return {};
  std::vector<at::Tensor> batch;
  for (const Field& field : fields_) {
    std::vector<std::int64_t> sizes{rows};
    sizes.insert(sizes.end(), field.sizes.begin(), field.sizes.end());
    batch.push_back(at::zeros(sizes, at::TensorOptions(field.dtype)));
  }
  return batch;
}

std::string BatchSteps::trouble() const {
  const std::string last = trouble_->last();
  return last.empty() ? "" : "; it tries again after: " + last;
}

void BatchSteps::finish(const Dataset& dataset, LoadedBatch& batch) const {
  const Surroundings surroundings(copies_);
  if (!transforms_.empty()) transform(dataset, batch);
  if (pin_memory_) pin(batch);
}

void BatchSteps::fill(Dataset& dataset, LoadedBatch& batch) const {
  const Surroundings surroundings(copies_);
  load(dataset, batch);
  if (batch.samples.empty() && batch.skipped > 0) batch.tensors = without_samples(dataset, batch, batch.rows);
  if (!transforms_.empty()) {
    if (batch.rows > 0) {
      transform(dataset, batch);
    } else {  // operators have no results of nothing
      const std::vector<at::Tensor> nothing = std::move(batch.tensors);
      batch.tensors = without_samples(dataset, batch, 1);
      std::vector<bool> has_rows;
      for (std::size_t i = 0; i < nothing.size(); ++i)
        has_rows.push_back(nothing[i].sizes() != batch.tensors[i].sizes());
      transform(dataset, batch);
      has_rows.resize(batch.tensors.size(), true);
      for (std::size_t i = 0; i < has_rows.size(); ++i) {
        if (has_rows[i] && batch.tensors[i].dim() > 0) batch.tensors[i] = batch.tensors[i].narrow(0, 0, 0);
      }
    }
  }
  if (pin_memory_) pin(batch);
}

}  // namespace tandem::loader
