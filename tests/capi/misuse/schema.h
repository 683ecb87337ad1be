// What an operator takes, read from the schema that tdm_op_schema() gives.
#pragma once

#include <string>
#include <vector>

namespace misuse {

struct SchemaArgument {
  std::string type;  // "Tensor", "SymInt[]", "ScalarType", without annotations, lengths and '?'
  std::string name;
  bool optional = false;
  bool has_default = false;
};

// "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
std::vector<SchemaArgument> parse_schema(const std::string& schema);

}  // namespace misuse
