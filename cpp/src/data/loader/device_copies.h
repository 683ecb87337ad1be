// Copies of batches to a device, beside computation: on a stream of their own, without the CPU waiting for them.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tandem/loader.h"

namespace tandem::loader {

class DeviceCopies {
 public:
  // Is done when a batch is on the device.
  using Copied = std::shared_ptr<const c10::Event>;
  // Until who waits for bytes_under_way() to be less looks again: copies wake nobody.
  static constexpr std::chrono::milliseconds kSoon{1};

  // None for the CPU, or where nothing is named. Throws Error naming the device: kInvalidArgument for what is no device
  // that computes, kUnsupported for one that this process cannot use, kOutOfRange past the last one.
  static std::shared_ptr<DeviceCopies> to(const std::optional<at::Device>& device);
  // Waits for copies that are under way.
  ~DeviceCopies();
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  // With its index.
  at::Device device() const { return stream_.device(); }
  // Queues the copying of the batch's tensors, and puts those that it fills in their place. Any thread, several at
  // once. Throws Error naming the batch.
  Copied send(LoadedBatch& batch);
  // Has what the calling thread queues on the device from now on come after the copies, and the batch's memory not be
  // used again before that is done.
  void receive(const LoadedBatch& batch, const Copied& copied);
  // Of the memory that copies have yet to read. Like the others, releases what they have read.
  std::int64_t bytes_under_way();

 private:
  struct Source {
    std::vector<at::Tensor> tensors;
    std::int64_t bytes;
    Copied copied;
  };

  explicit DeviceCopies(at::Device device);
  void keep(Source source);

  const c10::Stream stream_;
  std::mutex mutex_;
  std::deque<Source> sources_;  // what is copied from, in about the order of the stream
};

}  // namespace tandem::loader
