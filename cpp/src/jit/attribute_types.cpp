#include "jit/attribute_types.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/class_type.h>
#include <ATen/core/jit_type.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tandem/error.h"

namespace tandem::jit {
namespace {

struct Attribute {
  at::IValue value;
  c10::TypePtr type;
  std::string name;
};

}  // namespace

void require_attribute_types(const at::IValue& module, const std::string& name) {
  std::vector<Attribute> left{{module, module.type(), ""}};
  std::unordered_set<const void*> seen;
  while (!left.empty()) {
    const Attribute one = std::move(left.back());
    left.pop_back();
    // None stands for parameters and modules that are not there.
    if (!one.value.isNone() && !one.value.type()->isSubtypeOf(*one.type)) {
      throw Error(ErrorCode::kDataLoss, name + " is damaged: attribute '" + one.name + "' is to be of type " +
                                            one.type->repr_str() + ", and is of " + one.value.type()->repr_str());
    }
    if (one.value.isPtrType() && !seen.insert(one.value.internalToPointer()).second) continue;
    if (one.value.isObject()) {
      const auto object = one.value.toObject();
      const auto type = object->type();
      for (std::size_t i = 0; i < type->numAttributes(); ++i) {
        left.push_back({object->getSlot(i), type->getAttribute(i),
                        one.name + (one.name.empty() ? "" : ".") + type->getAttributeName(i)});
      }
    } else if (one.value.isTuple()) {
      for (const at::IValue& element : one.value.toTupleRef().elements())
        left.push_back({element, element.type(), one.name});
    } else if (one.value.isList()) {
      const auto type = one.value.toList().elementType();
      for (const at::IValue& element : one.value.toListRef()) left.push_back({element, type, one.name});
    } else if (one.value.isGenericDict()) {
      const auto dict = one.value.toGenericDict();
      for (const auto& item : dict) {
        left.push_back({item.key(), dict.keyType(), one.name});
        left.push_back({item.value(), dict.valueType(), one.name});
      }
    }
  }
}

}  // namespace tandem::jit
