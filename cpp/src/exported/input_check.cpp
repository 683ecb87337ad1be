#include "exported/input_check.h"

#include "exported/types.h"

namespace tandem::exported {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, name + " " + why);
}

std::string shown_size(const Size& size) {
  return size.expression ? size.expression->shown() : std::to_string(size.number);
}

bool is_symbol(const Size& size, const Symbols& symbols, std::int64_t value, Expression::Solution* found) {
  if (!size.expression) return false;
  const auto solution = size.expression->solve(symbols, value);
  if (!solution || solution->symbol != size.expression->shown()) return false;
  *found = *solution;
  return true;
}

// Sizes of a value, with what each is called in errors.
template <typename Visit>
void for_each_size(const at::IValue& value, const std::string& name, const std::vector<Size>& sizes, const Visit& visit) {
  if (!value.isTensor()) return visit(sizes.front(), value.toInt(), name);
  const auto given = value.toTensor().sizes();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    visit(sizes[i], given[i], "size " + std::to_string(i) + " of " + name);
  }
}

std::string shown_tensor(const at::Tensor& tensor) {
  std::string text = std::string(at::toString(tensor.scalar_type())) + "[";
  for (const std::int64_t size : tensor.sizes()) text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
  return text + "]";
}

}  // namespace

Size parse_size(const Json& value, const std::string& where) {
  const auto [kind, content] = one_of(value, where);
  if (kind == "as_int") return {integer(content, where)};
  if (kind != "as_expr") damaged(where, "has a size that is neither a number nor an expression");
  const std::string& expression = text(content, "expr_str", where);
  auto parsed = Expression::parse(expression);
  if (!parsed) unsupported(where, "has the size " + expression.substr(0, 200) + ", which is not understood");
  return {0, std::move(parsed)};
}

InputCheck::InputCheck(const Json& graph, const std::string& name, const std::string& where) {
  const std::string here = where + ": input '" + name + "'";
  if (const Json* meta = find(object(graph, "tensor_values", where), name.c_str())) {
    is_tensor_ = true;
    dtype_ = scalar_type(member(*meta, "dtype", here), here);
    for (const Json& size : list(*meta, "sizes", here)) sizes_.push_back(parse_size(size, here));
  } else if (const Json* integer = find(object(graph, "sym_int_values", where), name.c_str())) {
    is_integer_ = true;
    sizes_.push_back(parse_size(*integer, here));
  } else {
    unsupported(here, "is neither a tensor nor an integer");
  }
}

std::string InputCheck::description() const {
  if (is_integer_) return "int";
  std::string text = std::string(at::toString(dtype_)) + "[";
  for (const Size& size : sizes_) text += (&size == &sizes_.front() ? "" : ", ") + shown_size(size);
  return text + "]";
}

void InputCheck::bind(const at::IValue& value, const std::string& name, bool any_real, Symbols& symbols) const {
  if (is_integer_ && !value.isInt()) refuse(name, "must be an integer, not " + value.tagKind());
  if (is_tensor_) {
    if (!value.isTensor() || !value.toTensor().defined()) {
      refuse(name, "must be a tensor (" + description() + "), not " + value.tagKind());
    }
    const at::Tensor& tensor = value.toTensor();
    const bool is_near = any_real && at::isFloatingType(dtype_) && tensor.is_floating_point();
    if ((tensor.scalar_type() != dtype_ && !is_near) ||
        static_cast<std::size_t>(tensor.dim()) != sizes_.size()) {
      refuse(name, "is " + shown_tensor(tensor) + ", but the program was exported for " + description());
    }
  }
  for_each_size(value, name, sizes_, [&](const Size& size, std::int64_t given, const std::string& what) {
    Expression::Solution found;
    if (is_symbol(size, symbols, given, &found)) {
      symbols.emplace(found.symbol, found.value);
    } else if (!size.expression && size.number != given) {
      refuse(what, "is " + std::to_string(given) + ", but the program was exported for " + std::to_string(size.number) +
                       " (" + description() + "); export it with this size dynamic");
    }
  });
}

void InputCheck::compare(const at::IValue& value, const std::string& name, Symbols& symbols) const {
  for_each_size(value, name, sizes_, [&](const Size& size, std::int64_t given, const std::string& what) {
    if (!size.expression) return;
    if (const auto wanted = size.expression->evaluate(symbols)) {
      if (*wanted != given) {
        refuse(what, "is " + std::to_string(given) + ", but must be " + size.expression->shown() + ", which is " +
                         std::to_string(*wanted) + " for the other inputs");
      }
    } else if (const auto solution = size.expression->solve(symbols, given)) {
      symbols.emplace(solution->symbol, solution->value);
    } else {
      // Of several symbols that are not known nothing can be said; of one: no value gives this.
      Symbols any = symbols;
      if (size.expression->solve(any, 0) || size.expression->solve(any, 1)) {
        refuse(what, "is " + std::to_string(given) + ", which " + size.expression->shown() + " cannot be");
      }
    }
  });
}

std::map<std::string, Range> parse_ranges(const Json& program, const std::string& where) {
  std::map<std::string, Range> ranges;
  const Json* constraints = find(program, "range_constraints");
  if (!constraints) return ranges;
  if (!constraints->is_object()) damaged(where, "has range constraints that are no object");
  for (const auto& [symbol, range] : constraints->items()) {
    const auto bound = [&](const char* name) -> std::optional<std::int64_t> {
      const Json* value = find(range, name);
      return value ? std::optional(integer(*value, where)) : std::nullopt;
    };
    ranges.emplace(symbol, Range{bound("min_val"), bound("max_val")});
  }
  return ranges;
}

void check_ranges(const std::map<std::string, Range>& ranges, const Symbols& symbols) {
  for (const auto& [symbol, value] : symbols) {
    const auto found = ranges.find(symbol);
    if (found == ranges.end()) continue;
    const auto [least, most] = found->second;
    // An export takes 0 and 1 for special and says 2; Python's programs take them all the same.
    const bool is_low = least && *least > 2 && value < *least;
    if (!is_low && (!most || value <= *most)) continue;
    refuse("the dynamic size " + symbol,
           "is " + std::to_string(value) + " for these inputs, but the program was exported for " +
               (least ? std::to_string(*least) : "any") + " to " + (most ? std::to_string(*most) : "any"));
  }
}

}  // namespace tandem::exported
