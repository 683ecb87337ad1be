#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include "tandem/jit.h"

namespace tandem::jit {
namespace {

at::IValue replaced(const at::IValue& value, const std::function<void(at::Tensor&)>& visit) {
  if (value.isTensor()) {
    at::Tensor tensor = value.toTensor();
    visit(tensor);
    return tensor;
  }
  if (value.isTuple()) {
    const auto& tuple = value.toTupleRef();
    std::vector<at::IValue> elements;
    for (const at::IValue& element : tuple.elements()) elements.push_back(replaced(element, visit));
    const auto type = tuple.type();
    if (type->schema()) return c10::ivalue::Tuple::createNamed(std::move(elements), type);
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    const auto list = value.toList();
    c10::impl::GenericList made(list.elementType());
    for (const at::IValue& element : value.toListRef()) made.push_back(replaced(element, visit));
    return made;
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    c10::impl::GenericDict made(dict.keyType(), dict.valueType());
    for (const auto& item : dict) made.insert(item.key(), replaced(item.value(), visit));
    return made;
  }
  return value;
}

}  // namespace

void visit_tensors(at::IValue& value, const std::function<void(at::Tensor&)>& visit) {
  value = replaced(value, visit);
}

}  // namespace tandem::jit
