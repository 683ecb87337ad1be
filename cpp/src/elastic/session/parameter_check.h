// Whether all ranks have the same parameters, and who has not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tandem/checkpoint.h"
#include "tandem/export.h"

namespace tandem::elastic {

// Of each replicated tensor that requires a gradient, in the order of names: those are the same bits on all ranks where
// each computes rightly. What it does not cover may differ: BatchNorm's running statistics, buffers, own tensors.
class TANDEM_API ParameterHashes {
 public:
  // Reads all of their bytes. Throws Error(kInvalidArgument) where there is none.
  explicit ParameterHashes(const CheckpointContent& content);

  // For the other ranks.
  std::string encode() const;

  struct Difference {
    std::vector<int> wrong;  // ranks; all of them where no more than half agree
    bool has_majority = false;
    std::string text;  // "rank 2 has another 'model.weight' than the 2 others, …"
  };
  // `of_ranks`: what each of them encoded. Nothing: all have the same.
  std::optional<Difference> compare(const std::vector<std::string>& of_ranks) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::uint32_t> hashes_;
};

}  // namespace tandem::elastic
