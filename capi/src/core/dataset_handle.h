// The handle of a data set.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/handle.h"
#include "tandem/dataset.h"
#include "tandem/tandem.h"

struct tdm_dataset : tandem::capi::Handle<tandem::Kind::kDataset> {
  // Whose samples have a name for each tensor: front ends make room for a batch by them.
  explicit tdm_dataset(std::shared_ptr<tandem::Dataset> made) : dataset(std::move(made)), names(dataset->names()) {}

  const std::shared_ptr<tandem::Dataset> dataset;
  const std::vector<std::string> names;
};

namespace tandem::capi {

// Throws Error(kInvalidArgument) naming the field that cannot be.
std::vector<RecordField> read_record_fields(const tdm_field* fields, std::size_t count);

}  // namespace tandem::capi
