#include "parameter_server/declaration.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/invalid.h"
#include "base/shortest.h"

namespace tandem::parameter_server {
namespace {

// So that products of the two fit in 64 bits, and in what the largest machine has.
constexpr std::int64_t kMostRows = std::int64_t{1} << 40;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 20;
constexpr int kMostServers = 32767;

at::IValue tuple(std::vector<at::IValue> parts) {
  return c10::ivalue::Tuple::create(std::move(parts));
}

at::IValue list_of(std::vector<at::IValue> values) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (at::IValue& value : values) list.push_back(std::move(value));
  return list;
}

std::vector<at::IValue> parts_of(const at::IValue& value, std::size_t count) {
  const auto& elements = value.toTupleRef().elements();
  if (elements.size() != count) {
    invalid("a declaration has " + std::to_string(elements.size()) + " parts, not " + std::to_string(count));
  }
  return std::vector<at::IValue>(elements.begin(), elements.end());
}

at::IValue to_value(const OptimizerChoice& optimizer) {
  std::vector<at::IValue> options;
  for (const Option& option : optimizer.options) options.push_back(tuple({option.name, option.value}));
  return tuple({optimizer.type, list_of(std::move(options))});
}

OptimizerChoice optimizer_from(const at::IValue& value) {
  const auto parts = parts_of(value, 2);
  OptimizerChoice optimizer{parts[0].toStringRef(), {}};
  for (const at::IValue& one : parts[1].toListRef()) {
    const auto option = parts_of(one, 2);
    optimizer.options.push_back({option[0].toStringRef(), option[1]});
  }
  return optimizer;
}

// As IValue writes it, but numbers as programs write them.
void write_value(std::ostream& out, const at::IValue& value) {
  if (value.isDouble()) {
    out << shortest(value.toDouble());
  } else if (value.isList() || value.isTuple()) {
    const at::ArrayRef<at::IValue> elements =
        value.isList() ? value.toListRef() : at::ArrayRef<at::IValue>(value.toTupleRef().elements());
    out << (value.isList() ? '[' : '(');
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) out << ", ";
      write_value(out, elements[i]);
    }
    out << (value.isList() ? ']' : ')');
  } else {
    out << value;
  }
}

at::ScalarType dtype_from(const at::IValue& value) {
  const std::int64_t number = value.toInt();
  if (number < 0 || number >= static_cast<std::int64_t>(at::ScalarType::NumOptions)) {
    invalid("a declaration has the dtype " + std::to_string(number) + ", which is none");
  }
  return static_cast<at::ScalarType>(number);
}

}  // namespace

void check_table_name(const std::string& name) {
  if (name.empty() || name.size() > 255 || name.find('/') != std::string::npos || name.find('\0') != std::string::npos) {
    invalid("'" + name + "' is no name of a table or dense parameter: those have 1 to 255 bytes, without '/'");
  }
}

std::string OptimizerChoice::text() const {
  std::ostringstream text;
  text << type << '(';
  for (std::size_t i = 0; i < options.size(); ++i) {
    text << (i == 0 ? "" : ", ") << options[i].name << '=';
    write_value(text, options[i].value);
  }
  text << ')';
  return text.str();
}

void TableDeclaration::check() const {
  check_table_name(name);
  const std::string what = "table '" + name + "': ";
  if (rows < 1 || rows > kMostRows) invalid(what + "rows are " + std::to_string(rows) + "; they must be 1 to 2^40");
  if (width < 1 || width > kMostWidth) invalid(what + "the width is " + std::to_string(width) + "; it must be 1 to 2^20");
  if (dtype != at::kFloat && dtype != at::kDouble) {
    invalid(what + "rows of dtype " + at::toString(dtype) + " are not kept; give Float or Double");
  }
  if (!(standard_deviation >= 0 && standard_deviation <= 1e30)) invalid(what + "standard_deviation must be 0 or more");
  if (servers < 1 || servers > kMostServers || server < 0 || server >= servers) {
    invalid(what + "server " + std::to_string(server) + " of " + std::to_string(servers) + " makes no sense");
  }
  if (rows < servers) {
    invalid(what + std::to_string(rows) + " rows are fewer than the " + std::to_string(servers) + " servers");
  }
}

std::string TableDeclaration::text() const {
  std::ostringstream text;
  text << rows << " rows of " << width << ' ' << at::toString(dtype) << ", "
       << (placement == RowPlacement::kModulo ? "by modulo" : "by range") << " on " << servers
       << " servers (this is number " << server << "), " << optimizer.text();
  if (has_initial) {
    text << ", with initial values";
  } else {
    text << ", standard deviation " << shortest(standard_deviation) << ", seed " << seed;
  }
  return text.str();
}

std::int64_t TableDeclaration::bytes() const {
  const std::int64_t here = rows / servers + (server < rows % servers ? 1 : 0);  // as Rows has it
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(here, width * static_cast<std::int64_t>(at::elementSize(dtype)), &bytes)) return INT64_MAX;
  return bytes;
}

void DenseDeclarations::check() const {
  for (const DenseDeclaration& one : parameters) {
    check_table_name(one.name);
    const std::string what = "dense parameter '" + one.name + "' ";
    if (!at::isFloatingType(one.dtype) && !at::isComplexType(one.dtype)) {
      invalid(what + "has the dtype " + at::toString(one.dtype) + "; optimizers change those of floating point alone");
    }
    if (one.sizes.size() > 64 || !std::ranges::all_of(one.sizes, [](std::int64_t size) { return size >= 0; })) {
      invalid(what + "has sizes that make no sense");
    }
  }
}

std::string DenseDeclarations::text() const {
  std::ostringstream text;
  for (const DenseDeclaration& one : parameters) {
    text << one.name << ' ' << at::IntArrayRef(one.sizes) << ' ' << at::toString(one.dtype) << ", ";
  }
  text << optimizer.text();
  return text.str();
}

std::int64_t DenseDeclarations::bytes() const {
  std::int64_t all = 0;
  for (const DenseDeclaration& one : parameters) {
    auto bytes = static_cast<std::int64_t>(at::elementSize(one.dtype));
    for (const std::int64_t size : one.sizes) {
      if (__builtin_mul_overflow(bytes, size, &bytes)) return INT64_MAX;
    }
    if (__builtin_add_overflow(all, bytes, &all)) return INT64_MAX;
  }
  return all;
}

at::IValue to_value(const Declarations& all) {
  std::vector<at::IValue> dense, tables;
  for (const DenseDeclaration& one : all.dense.parameters) {
    dense.push_back(tuple({one.name, one.sizes, static_cast<std::int64_t>(one.dtype)}));
  }
  for (const TableDeclaration& one : all.tables) {
    tables.push_back(tuple({one.name, one.rows, one.width, static_cast<std::int64_t>(one.dtype), to_value(one.optimizer),
                            one.placement == RowPlacement::kModulo, one.has_initial, one.standard_deviation,
                            static_cast<std::int64_t>(one.seed), static_cast<std::int64_t>(one.server),
                            static_cast<std::int64_t>(one.servers)}));
  }
  return tuple({all.mode.synchronous, all.mode.staleness, all.mode.trainers, all.mode.lost_ones_leave,
                list_of(std::move(dense)), to_value(all.dense.optimizer), list_of(std::move(tables))});
}

Declarations declarations_from(const at::IValue& value) {
  const auto parts = parts_of(value, 7);
  Declarations all;
  all.mode = {parts[0].toBool(), parts[1].toInt(), parts[2].toInt(), parts[3].toBool()};
  if (all.mode.staleness < 0 || all.mode.trainers < 1) {
    invalid("a trainer gave a mode that makes no sense: " + all.mode.text());
  }
  for (const at::IValue& dense : parts[4].toListRef()) {
    const auto one = parts_of(dense, 3);
    all.dense.parameters.push_back({one[0].toStringRef(), one[1].toIntVector(), dtype_from(one[2])});
  }
  all.dense.optimizer = optimizer_from(parts[5]);
  all.dense.check();
  std::set<std::string> names;
  const auto take = [&](const std::string& name) {
    if (!names.insert(name).second) invalid("two tables or dense parameters are named '" + name + "'");
  };
  for (const DenseDeclaration& dense : all.dense.parameters) take(dense.name);
  for (const at::IValue& table : parts[6].toListRef()) {
    const auto one = parts_of(table, 11);
    TableDeclaration declared;
    declared.name = one[0].toStringRef();
    declared.rows = one[1].toInt();
    declared.width = one[2].toInt();
    declared.dtype = dtype_from(one[3]);
    declared.optimizer = optimizer_from(one[4]);
    declared.placement = one[5].toBool() ? RowPlacement::kModulo : RowPlacement::kRange;
    declared.has_initial = one[6].toBool();
    declared.standard_deviation = one[7].toDouble();
    declared.seed = static_cast<std::uint64_t>(one[8].toInt());
    const auto small = [&](const at::IValue& number) {
      return static_cast<int>(std::clamp<std::int64_t>(number.toInt(), -1, kMostServers + 1));
    };
    declared.server = small(one[9]);
    declared.servers = small(one[10]);
    declared.check();
    take(declared.name);
    all.tables.push_back(std::move(declared));
  }
  return all;
}

at::IValue to_value(const NamedTensors& tensors) {
  std::vector<at::IValue> values;
  for (const auto& [name, tensor] : tensors) values.push_back(tuple({name, tensor}));
  return list_of(std::move(values));
}

NamedTensors named_tensors_from(const at::IValue& value) {
  NamedTensors tensors;
  for (const at::IValue& one : value.toListRef()) {
    const auto parts = parts_of(one, 2);
    tensors.emplace_back(parts[0].toStringRef(), parts[1].toTensor());
  }
  return tensors;
}

}  // namespace tandem::parameter_server
