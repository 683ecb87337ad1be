// The handle of a loader, of either kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "core/handles/handle.h"
#include "tandem/dynamic_loader.h"
#include "tandem/loader.h"
#include "tandem/tandem.h"

struct tdm_loader : tandem::capi::Handle<tandem::Kind::kLoader> {
  using Loader = std::variant<tandem::DataLoader, tandem::DynamicLoader>;

  // A tandem::DataLoader, or a tandem::DynamicLoader, of what is given.
  template <typename Kind, typename... Given>
  tdm_loader(std::in_place_type_t<Kind> kind, std::size_t tensors, Given&&... given)
      : field_count(tensors), loader(kind, std::forward<Given>(given)...) {}

  std::size_t field_count;  // of a batch
  Loader loader;
  std::optional<tandem::LoadedBatch> batch;  // that next() gave last, without its tensors
};

namespace tandem::capi {

// What both kinds have.
template <typename Call>
auto with_either(tdm_loader& loader, Call&& call) {
  return std::visit(std::forward<Call>(call), loader.loader);
}
template <typename Call>
auto with_either(const tdm_loader& loader, Call&& call) {
  return std::visit(std::forward<Call>(call), loader.loader);
}

// What one kind alone has: throws Error (kInvalidArgument) for the other, which says what to do `instead`.
DataLoader& data_loader(tdm_loader& loader, const char* instead);
DynamicLoader& dynamic_loader(tdm_loader& loader, const char* instead);

}  // namespace tandem::capi
