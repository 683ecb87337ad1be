// Copies of what is to be saved while training goes on to change it.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tandem/checkpoint.h"
#include "tandem/export.h"

namespace tandem::checkpoint {

// Memory that is used for one save after the other: fresh pages cost as much as the copying.
class TANDEM_API Staging {
 public:
  // A tensor, and the memory for its copy.
  struct Copy {
    at::Tensor from, to;
  };
  // On the CPU. The copies of the call before are no longer in use. `with_replicated`: whether this rank writes those.
  CheckpointContent copy(const CheckpointContent& content, bool with_replicated);
  // The same with copies that are yet to be made, by make().
  CheckpointContent plan(const CheckpointContent& content, bool with_replicated, std::vector<Copy>* copies);
  static void make(const Copy& copy);
  // Memory for what is replicated of `content`, whose tensors may be on the device meta, to be filled by the caller.
  CheckpointContent place(const CheckpointContent& content);

 private:
  using Key = std::tuple<bool, std::string, std::string>;  // replicated, section, name
  // What was kept under the key, where it fits; else new.
  at::Tensor memory_for(const Key& key, const at::Tensor& tensor) const;
  void keep(std::map<Key, at::Tensor>* copies, Key key, const at::Tensor& copy) const;

  std::map<Key, at::Tensor> copies_;
};

}  // namespace tandem::checkpoint
