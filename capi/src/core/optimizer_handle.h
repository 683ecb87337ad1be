// The handle of an optimizer, which loss scaling takes as well.
#pragma once

#include <memory>
#include <utility>

#include "core/live_count.h"
#include "tandem/optim.h"

struct tdm_optimizer : tandem::capi::LiveCount<tandem::Kind::kOptimizer> {
  explicit tdm_optimizer(std::unique_ptr<tandem::optim::Optimizer> made) : optimizer(std::move(made)) {}

  std::unique_ptr<tandem::optim::Optimizer> optimizer;
  bool stepped = false;
};
