// The handle of a reference.
#pragma once

#include <utility>

#include "core/handles/handle.h"
#include "tandem/rpc.h"

struct tdm_rref : tandem::capi::Handle<tandem::Kind::kRRef> {
  explicit tdm_rref(tandem::rpc::RRef held) : rref(std::move(held)) {}

  const tandem::rpc::RRef rref;
};
