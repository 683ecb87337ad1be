// The tensors of an archive: its weights and constants.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>

#include "exported/archive.h"

namespace tandem::exported {

struct Payload {
  std::string member;  // where its storage's bytes are
  bool is_parameter = false;
  bool requires_grad = false;
  at::Device exported_on{at::kCPU};
  at::Tensor tensor;  // on the CPU
};

// By the names in the model. Those of one member share its storage, which is mapped, copy-on-write; those with the same
// place in it are one tensor. Throws tandem::Error: kDataLoss where a tensor does not lie in its member, kUnsupported.
std::map<std::string, Payload> read_payloads(const Archive& archive, const std::string& folder,
                                             const std::string& config);

}  // namespace tandem::exported
