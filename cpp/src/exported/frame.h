// The values of one run of a graph.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "exported/json_fields.h"

namespace tandem::exported {

// Constants of a graph name the device that the model was exported on; a model that moved takes them along.
struct DeviceChange {
  at::Device exported{at::kCPU}, present{at::kCPU};

  at::Device of(at::Device named) const {
    const bool is_it = named.type() == exported.type() &&
                       (!named.has_index() || !exported.has_index() || named.index() == exported.index());
    return is_it ? present : named;
  }
};

struct Frame {
  std::vector<at::IValue> slots;
  const DeviceChange& devices;
};

// What a slot holds; of a tensor that is left out, None.
enum class SlotKind : char { kTensor, kInt, kDouble, kBool };

// Which slot of a frame a name of the graph has. A name is known once what gives it stands before.
class Names {
 public:
  // `kind`: of the schema's Argument union.
  std::size_t add(const std::string& name, const std::string& where, const std::string& kind = "as_tensor") {
    const std::size_t slot = slots_.size();
    kinds_.push_back(kind == "as_sym_int"     ? SlotKind::kInt
                     : kind == "as_sym_float" ? SlotKind::kDouble
                     : kind == "as_sym_bool"  ? SlotKind::kBool
                                              : SlotKind::kTensor);
    if (!slots_.emplace(name, slot).second) damaged(where, "gives the name '" + name + "', which is there already");
    return slot;
  }
  std::size_t at(const std::string& name, const std::string& where) const {
    const auto found = slots_.find(name);
    if (found == slots_.end()) damaged(where, "takes '" + name + "', which nothing before it gives");
    return found->second;
  }
  std::size_t size() const { return slots_.size(); }
  const std::vector<SlotKind>& kinds() const { return kinds_; }

 private:
  std::vector<SlotKind> kinds_;
  std::unordered_map<std::string, std::size_t> slots_;
};

}  // namespace tandem::exported
