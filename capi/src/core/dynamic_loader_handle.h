// The handle of a dynamic loader.
#pragma once

#include <optional>
#include <utility>

#include "core/dataset_handle.h"
#include "tandem/dynamic_loader.h"

struct tdm_dynamic_loader : tandem::capi::Handle<tandem::Kind::kDynamicLoader> {
  template <typename... Given>
  explicit tdm_dynamic_loader(const tdm_dataset& dataset, Given&&... given)
      : field_count(dataset.names.size()),
        loader(tandem::capi::samples_of(&dataset, "dataset"), std::forward<Given>(given)...) {}
  std::size_t field_count;  // of a part
  tandem::DynamicLoader loader;
  std::optional<tandem::LoadedBatch> part;  // that next() gave last, without its tensors
};
