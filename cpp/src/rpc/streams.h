// Streams of the GPUs that have part in calls. LibTorch gives each call streams of its own, and orders them by the tensors
// that are sent alone. Here what a function does to others, such as a step on parameters, is ordered too, by way of the
// GPUs' default streams: a function waits for them before it begins, and they for it before its caller hears of its end.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <vector>

namespace tandem::rpc {

// Of this thread.
std::vector<c10::Stream> current_streams(const std::vector<c10::Device>& devices);
// `streams` go on once all is done that their GPUs' default streams have been given.
void after_default_streams(const std::vector<c10::Stream>& streams);
// The default streams of their GPUs go on once all is done that `streams` have been given.
void before_default_streams(const std::vector<c10::Stream>& streams);

}  // namespace tandem::rpc
