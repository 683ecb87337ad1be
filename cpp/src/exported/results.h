// Where a node of a graph puts what it gives.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "exported/frame.h"

namespace tandem::exported {

class Results {
 public:
  // A list of the schema's Argument unions. Adds their names. Throws tandem::Error (kDataLoss).
  static Results parse(const Json& outputs, Names& names, const std::string& where);

  // One value for each output, where a list of tensors is one. Throws Error (kInvalidArgument) where it has another
  // number of them than when the program was exported.
  void put(const at::IValue* values, std::size_t count, Frame& frame) const;
  // Of what gives its values one by one: a list's tensors too.
  void put_flat(const std::vector<at::IValue>& values, Frame& frame) const;

  std::size_t size() const { return outputs_.size(); }
  void add_slots(std::vector<std::size_t>& into) const;

 private:
  struct Output {
    bool is_list = false;
    std::vector<std::ptrdiff_t> slots;  // -1 for what nobody wants
  };
  std::vector<Output> outputs_;
};

}  // namespace tandem::exported
