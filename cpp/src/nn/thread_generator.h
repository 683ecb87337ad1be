// Random numbers of a thread. LibTorch's operators draw from one generator a device, whichever thread they run on, so
// that threads that compute beside one another get numbers by chance.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tandem::nn {

// While it lives, operators on this thread that would draw from the CPU's default generator draw from another. On one
// thread they end in the reverse order of their beginning.
class ThreadGenerator {
 public:
  explicit ThreadGenerator(at::Generator generator);
  ~ThreadGenerator();
  ThreadGenerator(const ThreadGenerator&) = delete;
  ThreadGenerator& operator=(const ThreadGenerator&) = delete;

 private:
  at::Generator generator_;
  const at::Generator* outer_;
  c10::impl::IncludeDispatchKeyGuard asked_;
};

// What operators of this thread draw from that are given no generator.
at::Generator current_generator(at::Device device);

}  // namespace tandem::nn
