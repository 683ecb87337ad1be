// The handle of a loader.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "core/handle.h"
#include "tandem/loader.h"
#include "tandem/tandem.h"

struct tdm_loader : tandem::capi::Handle<tandem::Kind::kLoader> {
  template <typename Data>
  tdm_loader(std::size_t tensors, const std::shared_ptr<Data>& dataset, const tandem::LoaderOptions& options)
      : field_count(tensors), loader(dataset, options) {}
  std::size_t field_count;  // of a batch
  tandem::DataLoader loader;
  std::optional<tandem::LoadedBatch> batch;  // that next() gave last, without its tensors
};
