// Copies of what is to be saved while training goes on to change it.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "tandem/checkpoint.h"

namespace tandem::checkpoint {

// Memory that is used for one save after the other: fresh pages cost as much as the copying.
class Staging {
 public:
  // On the CPU. The copies of the call before are no longer in use. `with_replicated`: whether this rank writes those.
  CheckpointContent copy(const CheckpointContent& content, bool with_replicated);

 private:
  using Key = std::tuple<bool, std::string, std::string>;  // replicated, section, name
  std::map<Key, at::Tensor> copies_;
};

}  // namespace tandem::checkpoint
