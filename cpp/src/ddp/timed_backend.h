// What c10d::Reducer has in front of its group's backend, so that its all-reduces are timed, and held until backward
// has computed where an iteration exchanges apart.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>

#include "ddp/step_timer.h"
#include "tandem/process_group.h"

namespace tandem {

// A group of the same ranks, whose all-reduces are those of `group`, for tensors on the CPU.
c10::intrusive_ptr<c10d::ProcessGroup> timed_group(ProcessGroup& group, std::shared_ptr<StepTimer> timer);

// While it lives, what this thread exchanges within backward begins at once, for it is waited for there.
class ExchangesAtOnce {
 public:
  ExchangesAtOnce();
  ~ExchangesAtOnce();
  ExchangesAtOnce(const ExchangesAtOnce&) = delete;
  ExchangesAtOnce& operator=(const ExchangesAtOnce&) = delete;
};

// Of a bucket's gradients, which may be sparse.
std::int64_t bytes_to_exchange(const at::Tensor& gradients);

}  // namespace tandem
