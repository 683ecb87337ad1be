// What the user inputs of a program must be: dtypes, shapes, and the sizes that may differ from call to call.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exported/expression.h"
#include "exported/json_fields.h"

namespace tandem::exported {

// A size: a number, or an expression that each call gives a value.
struct Size {
  std::int64_t number = 0;
  std::optional<Expression> expression = {};
};

// Of the schema's SymInt. Throws tandem::Error: kDataLoss, kUnsupported for an expression that is not understood.
Size parse_size(const Json& value, const std::string& where);

struct Range {
  std::optional<std::int64_t> least, most;
};

// One user input.
class InputCheck {
 public:
  // Of the graph's tensor_values and sym_int_values, by the name there. Throws tandem::Error (kDataLoss).
  InputCheck(const Json& graph, const std::string& name, const std::string& where);

  std::string description() const;

  // Takes sizes that are a symbol for that symbol's value. `name`: the argument's, for errors. `any_real`: whether
  // tensors may be of any floating-point dtype. Throws Error (kInvalidArgument).
  void bind(const at::IValue& value, const std::string& name, bool any_real, Symbols& symbols) const;
  // After all were bound: compares the other expressions, and solves them for symbols that stand nowhere alone.
  void compare(const at::IValue& value, const std::string& name, Symbols& symbols) const;

 private:
  bool is_tensor_ = false, is_integer_ = false;
  at::ScalarType dtype_ = at::kFloat;
  std::vector<Size> sizes_;  // of a tensor; of an integer, itself
};

std::map<std::string, Range> parse_ranges(const Json& program, const std::string& where);
// Throws Error (kInvalidArgument), which names the symbol and what it stands for.
void check_ranges(const std::map<std::string, Range>& ranges, const Symbols& symbols);

}  // namespace tandem::exported
