// Data sets that are made of others. They hold them, take their batches from them in one piece where they can, and have
// fingerprints that follow from theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/dataset.h"
#include "tandem/export.h"

namespace tandem {

// One after the other. Throws Error(kInvalidArgument) without any, or where the names of their tensors differ; samples
// that differ in shape or dtype are an error of the batch that they meet in. Source: torch.utils.data.ConcatDataset.
TANDEM_API std::shared_ptr<Dataset> concat_dataset(std::vector<std::shared_ptr<Dataset>> parts);

// These samples of another, in this order; one may come several times. Throws Error(kOutOfRange) for a sample that is
// not there. Source: torch.utils.data.Subset.
TANDEM_API std::shared_ptr<Dataset> subset_dataset(std::shared_ptr<Dataset> base, std::vector<std::int64_t> samples);

// Parts of these sizes, each sample in one of them, drawn by the seed; no part keeps a list of its samples. Throws
// Error(kInvalidArgument) unless the sizes are that of the data set together. Source: torch.utils.data.random_split,
// whose random numbers are others.
TANDEM_API std::vector<std::shared_ptr<Dataset>> random_split(std::shared_ptr<Dataset> base,
                                                              const std::vector<std::int64_t>& sizes,
                                                              std::uint64_t seed);

// The sizes of parts by fractions of all samples, which are 1 together: rounded down, and what that leaves goes to the
// parts from the first on, one each. Throws Error(kInvalidArgument). Source: torch.utils.data.random_split.
TANDEM_API std::vector<std::int64_t> split_sizes(std::int64_t samples, const std::vector<double>& fractions);

// What makes a sample of another: called for each whenever it is loaded, by several threads at once.
using SampleMap = std::function<std::vector<at::Tensor>(std::vector<at::Tensor> sample)>;

// Each sample as `body` makes it; `names` are those of its tensors, without any those of `base`. Its fingerprint is
// that of `base`: a state goes on with another body, too. What `body` throws is an error of the batch, naming the
// sample.
TANDEM_API std::shared_ptr<Dataset> map_dataset(std::shared_ptr<Dataset> base, SampleMap body,
                                                std::vector<std::string> names = {});

}  // namespace tandem
