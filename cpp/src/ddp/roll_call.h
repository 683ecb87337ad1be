// What ranks tell one another at a forward, in one small all-reduce: who takes part, and with how many samples.
#pragma once

#include <memory>
#include <vector>

#include "tandem/process_group.h"

namespace tandem {

// What a rank that still trains is about to exchange. Zeros from one whose inputs are over.
struct Announcement {
  bool present = false;
  bool sends_buffers = false;
  bool synchronizes = false;     // a backward that exchanges gradients follows; buckets may be rebuilt before
  bool first_of_static = false;  // which exchanges the map of used parameters before the buckets
  std::int64_t samples = 0;
};

class RollCall {
 public:
  RollCall(ProcessGroup& group, const Announcement& mine, at::Device device);

  // All wait for the other ranks.
  int present();
  int lowest_present();
  std::vector<std::int64_t> samples_by_rank();
  Announcement together();  // each true where any rank says so

 private:
  const at::Tensor& numbers();
  std::int64_t number(std::int64_t index) { return numbers()[index].item<std::int64_t>(); }

  const int size_;
  at::Tensor tensor_;
  at::Tensor numbers_;  // on the CPU, once they are there
  Work work_;
};

}  // namespace tandem
