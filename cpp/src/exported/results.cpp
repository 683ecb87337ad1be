#include "exported/results.h"

namespace tandem::exported {
namespace {

constexpr std::ptrdiff_t kUnwanted = -1;

[[noreturn]] void other_number(std::size_t given, std::size_t wanted) {
  throw Error(ErrorCode::kInvalidArgument, "gives " + std::to_string(given) + " values, and gave " +
                                               std::to_string(wanted) + " when the program was exported");
}

void put_one(const at::IValue& value, std::ptrdiff_t slot, Frame& frame) {
  if (slot != kUnwanted) frame.slots[static_cast<std::size_t>(slot)] = value;
}

}  // namespace

Results Results::parse(const Json& outputs, Names& names, const std::string& where) {
  const auto add = [&](const std::string& name, const std::string& kind = "as_tensor") {
    return static_cast<std::ptrdiff_t>(names.add(name, where, kind));
  };
  const auto one = [&](const std::string& kind, const Json& content) -> std::ptrdiff_t {
    if (kind == "as_tensor") return add(text(content, "name", where));
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      const auto [known, value] = one_of(content, where);
      return known == "as_name" ? add(text(value, where), kind) : kUnwanted;
    }
    if (kind == "as_none" || kind == "as_int" || kind == "as_float" || kind == "as_bool") return kUnwanted;
    unsupported(where, "gives a value of the kind '" + kind.substr(0, 100) + "', which is not supported");
  };
  Results results;
  for (const Json& output : list(outputs, where)) {
    const auto [kind, content] = one_of(output, where);
    Output made;
    if (kind == "as_tensors") {
      made.is_list = true;
      for (const Json& element : list(content, where)) made.slots.push_back(add(text(element, "name", where)));
    } else if (kind == "as_optional_tensors") {
      made.is_list = true;
      for (const Json& element : list(content, where)) {
        const auto [inner, value] = one_of(element, where);
        made.slots.push_back(one(inner, value));
      }
    } else if (kind == "as_optional_tensor") {
      const auto [inner, value] = one_of(content, where);
      made.slots.push_back(one(inner, value));
    } else {
      made.slots.push_back(one(kind, content));
    }
    results.outputs_.push_back(std::move(made));
  }
  return results;
}

void Results::put(const at::IValue* values, std::size_t count, Frame& frame) const {
  if (outputs_.empty()) return;  // nobody wants them
  if (count != outputs_.size()) other_number(count, outputs_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Output& output = outputs_[i];
    if (!output.is_list) {
      put_one(values[i], output.slots.front(), frame);
      continue;
    }
    const auto elements = values[i].toListRef();
    if (elements.size() != output.slots.size()) other_number(elements.size(), output.slots.size());
    for (std::size_t j = 0; j < elements.size(); ++j) put_one(elements[j], output.slots[j], frame);
  }
}

void Results::put_flat(const std::vector<at::IValue>& values, Frame& frame) const {
  std::size_t count = 0;
  for (const Output& output : outputs_) count += output.slots.size();
  if (count != values.size()) other_number(values.size(), count);
  auto next = values.begin();
  for (const Output& output : outputs_) {
    for (const std::ptrdiff_t slot : output.slots) put_one(*next++, slot, frame);
  }
}

void Results::add_slots(std::vector<std::size_t>& into) const {
  for (const Output& output : outputs_) {
    for (const std::ptrdiff_t slot : output.slots) {
      if (slot != kUnwanted) into.push_back(static_cast<std::size_t>(slot));
    }
  }
}

}  // namespace tandem::exported
