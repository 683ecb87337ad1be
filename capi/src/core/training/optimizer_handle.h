// The handle of an optimizer, which loss scaling takes as well.
#pragma once

#include <memory>
#include <utility>

#include "core/handles/handle.h"
#include "tandem/optim.h"

struct tdm_optimizer : tandem::capi::Handle<tandem::Kind::kOptimizer> {
  explicit tdm_optimizer(std::shared_ptr<tandem::optim::Optimizer> made) : optimizer(std::move(made)) {}

  std::shared_ptr<tandem::optim::Optimizer> optimizer;  // DDP and other optimizers may hold it too
  bool stepped = false;
};
