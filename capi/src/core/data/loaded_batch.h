// What loaders give.
#pragma once

#include <vector>

#include "core/call/options.h"
#include "core/handles/handles.h"
#include "tandem/loader.h"

namespace tandem::capi {

// A handle for each, or none at all.
inline std::vector<tdm_tensor*> make_tensor_handles(std::vector<at::Tensor> tensors) {
  std::vector<tdm_tensor*> handles;
  try {
    handles.reserve(tensors.size());
    for (auto& tensor : tensors) handles.push_back(make_tensor_handle(std::move(tensor)));
  } catch (...) {
    for (tdm_tensor* handle : handles) tdm_tensor_free(handle);
    throw;
  }
  return handles;
}

// `batch` must live as long as what `out` points to is to be used.
inline void write_batch(const LoadedBatch& batch, tdm_loader_batch* out) {
  write_struct<tdm_loader_batch>(out,
                                 {sizeof(tdm_loader_batch), batch.epoch, batch.number, batch.rows, batch.local_count,
                                  batch.global_count, batch.samples.data(), batch.randomness.data(), batch.skipped},
                                 "tdm_loader_batch");
}

}  // namespace tandem::capi
