// The handle of a generator of random numbers, which values can hold.
#pragma once

#include <ATen/core/Generator.h>

#include <utility>

#include "core/handles/handle.h"

struct tdm_generator : tandem::capi::Handle<tandem::Kind::kGenerator> {
  explicit tdm_generator(at::Generator made) : generator(std::move(made)) {}

  at::Generator generator;
};
