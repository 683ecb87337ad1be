// Streams of the GPUs that have part in calls. LibTorch gives each call streams of its own, and orders them by the tensors
// that are sent alone. Here what a function does to others, such as a step on parameters, is ordered too, by way of the
// GPUs' default streams: a function waits for them before it begins, and they for it before its caller hears of its end.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <vector>

namespace tandem::rpc {

using Devices = std::vector<c10::Device>;

// Of this thread.
std::vector<c10::Stream> current_streams(const Devices& devices);
// `streams` go on once all is done that their GPUs' default streams have been given.
void after_default_streams(const std::vector<c10::Stream>& streams);
// The default streams of their GPUs go on once all is done that `streams` have been given.
void before_default_streams(const std::vector<c10::Stream>& streams);
// Blocks until these GPUs have done all that they were given.
void finish_all(const Devices& devices);
// The memory of a tensor of a GPU is not used anew before this thread's stream has done what it was given by then.
void hold_for_current_stream(const at::Tensor& tensor);
// LibTorch's future of a value that this thread's streams compute: its wait() has another thread's streams wait for them, and
// holds the memory for those. Null where there are no GPUs, or the value is on others.
c10::intrusive_ptr<c10::ivalue::Future> computed_here(const at::IValue& value, const Devices& devices);

}  // namespace tandem::rpc
