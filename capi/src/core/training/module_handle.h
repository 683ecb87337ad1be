// The handle of a module.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "core/handles/handle.h"
#include "tandem/nn.h"

struct tdm_module : tandem::capi::Handle<tandem::Kind::kModule> {
  explicit tdm_module(std::unique_ptr<tandem::nn::Module> made) : module(std::move(made)) {}

  std::unique_ptr<tandem::nn::Module> module;
  std::atomic<bool> called{false};
};
