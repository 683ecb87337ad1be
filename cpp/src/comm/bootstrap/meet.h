// Meeting at the store that an init method names, or at a given one.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "comm/bootstrap/rendezvous.h"
#include "tandem/store.h"

namespace tandem {

struct MeetingPlace {
  std::string init_method;  // ignored when a store is given
  int rank = -1, world_size = -1;
  std::chrono::milliseconds timeout{0};
};

// Calls `join` with the store, and again with the next one where what it met was the store of a group that ends. Gives up
// when the program shuts down meanwhile. Errors: those of opening a store and of `join`.
void meet(const MeetingPlace& place, const Store& store, const std::function<void(const Rendezvous&)>& join);

}  // namespace tandem
