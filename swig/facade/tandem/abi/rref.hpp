// References to values of other workers.
#pragma once

#include "tandem/abi/handle.hpp"

namespace tandem::abi {

// A reference to a value that stays on the worker where it was made. rpc.hpp has what is done with one.
// Source: torch.distributed.rpc.RRef.
class Rref {
 public:
  explicit Rref(tdm_rref* owned) : handle_(owned) {}

  // The id of the worker that has the value.
  int32_t owner() const {
    int32_t id = -1;
    check(tdm_rref_owner(raw(), &id));
    return id;
  }
  bool is_owner() const { return tdm_rref_is_owner(raw()) != 0; }
  bool confirmed_by_owner() const { return tdm_rref_confirmed_by_owner(raw()) != 0; }

  tdm_rref* raw() const noexcept { return handle_.get(); }

 private:
  Handle<tdm_rref, tdm_rref_free> handle_;
};

}  // namespace tandem::abi
