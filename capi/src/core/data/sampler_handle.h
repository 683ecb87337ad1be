// The handle of a sampler.
#pragma once

#include <memory>
#include <utility>

#include "core/handles/handle.h"
#include "tandem/sample_order.h"
#include "tandem/tandem.h"

struct tdm_sampler : tandem::capi::Handle<tandem::Kind::kSampler> {
  explicit tdm_sampler(std::shared_ptr<const tandem::SampleOrder> made) : order(std::move(made)) {}
  const std::shared_ptr<const tandem::SampleOrder> order;
};
