// The handle of a data set.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/handles/handle.h"
#include "tandem/dataset.h"
#include "tandem/iterable_dataset.h"
#include "tandem/tandem.h"

// Samples have a name for each tensor: front ends make room for a batch by them.
struct tdm_dataset : tandem::capi::Handle<tandem::Kind::kDataset> {
  explicit tdm_dataset(std::shared_ptr<tandem::Dataset> made) : dataset(std::move(made)), names(dataset->names()) {}
  explicit tdm_dataset(std::shared_ptr<tandem::IterableDataset> made)
      : iterable(std::move(made)), names(iterable->names()) {}

  // One of them.
  const std::shared_ptr<tandem::Dataset> dataset;
  const std::shared_ptr<tandem::IterableDataset> iterable;
  const std::vector<std::string> names;
};

namespace tandem::capi {

// Throws Error naming `argument`: as not_null(), and kUnsupported where samples only come one after the other.
const std::shared_ptr<Dataset>& samples_of(const tdm_dataset* dataset, const char* argument);

// Throws Error(kInvalidArgument) naming the field that cannot be.
std::vector<RecordField> read_record_fields(const tdm_field* fields, std::size_t count);

}  // namespace tandem::capi
