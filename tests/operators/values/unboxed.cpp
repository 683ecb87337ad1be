// Calls every operator of cases.txt unboxed and writes what came out: unboxed CASES RESULTS
//
// A case begins with "case KEY"; its arguments follow, a line each (see arguments.py). A line of results is "tensor
// DTYPE LAYOUT SIZES: ELEMENTS", "error MESSAGE" and so on; after the results come the tensors that were given, as the
// call left them.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include "values/cases.h"
#include "values/value.h"

namespace values {
namespace {

std::map<std::string, Runner>& table() {
  static std::map<std::string, Runner> entries;
  return entries;
}

std::string dense(const at::Tensor& t) {
  std::ostringstream out;
  for (const auto size : t.sizes()) out << ' ' << size;
  out << ':';
  const at::Tensor flat = t.is_conj() || t.is_neg() ? t.resolve_conj().resolve_neg().contiguous() : t.contiguous();
  if (flat.is_complex()) {
    const at::Tensor pairs = at::view_as_real(flat.to(at::kComplexDouble)).contiguous();
    for (std::int64_t i = 0; i < pairs.numel(); ++i) out << number(pairs.const_data_ptr<double>()[i]);
  } else if (flat.is_floating_point()) {
    const at::Tensor wide = flat.to(at::kDouble).contiguous();
    for (std::int64_t i = 0; i < wide.numel(); ++i) out << number(wide.const_data_ptr<double>()[i]);
  } else {
    const at::Tensor wide = flat.to(at::kLong).contiguous();
    for (std::int64_t i = 0; i < wide.numel(); ++i) out << ' ' << wide.const_data_ptr<std::int64_t>()[i];
  }
  return out.str();
}

at::Tensor read_tensor(std::istream& in) {
  const TensorText text = TensorText::read(in);
  const auto type = static_cast<at::ScalarType>(text.dtype);
  const at::Tensor wide = at::tensor(text.elements, at::kDouble);
  at::Tensor tensor = at::isComplexType(type) ? at::view_as_complex(wide.view({-1, 2})).to(type) : wide.to(type);
  tensor = tensor.view(text.sizes).clone();
  if (text.form == "coo") return tensor.to_sparse();
  if (text.form == "csr") return tensor.to_sparse_csr();
  if (text.form == "csc") return tensor.to_sparse_csc();
  return tensor;
}

at::Scalar read_scalar(std::istream& in) {
  const std::string kind = read_word(in), text = read_word(in);
  if (kind == "int") return std::stoll(text);
  if (kind == "bool") return text == "1";
  return std::stod(text);
}

Value read(const std::string& line) {
  std::istringstream in(line);
  Value value;
  const std::string kind = read_word(in);
  std::size_t count = 0;
  if (kind == "none") {
    value.none = true;
  } else if (kind == "tensor") {
    value.tensor = read_tensor(in);
  } else if (kind == "tensors") {
    in >> count;
    for (std::size_t i = 0; i < count; ++i) {
      if (read_word(in) == "none") {
        value.tensors.emplace_back();
        value.optional_tensors.push_back(std::nullopt);
      } else {
        value.tensors.push_back(read_tensor(in));
        value.optional_tensors.push_back(value.tensors.back());
      }
    }
  } else if (kind == "scalar") {
    value.scalar = read_scalar(in);
  } else if (kind == "scalars") {
    in >> count;
    for (std::size_t i = 0; i < count; ++i) value.scalars.push_back(read_scalar(in));
  } else if (kind == "int") {
    in >> value.integer;
  } else if (kind == "ints") {
    for (std::int64_t n = 0; in >> n;) {
      value.integers.push_back(n);
      value.symbolic.emplace_back(n);
    }
  } else if (kind == "float") {
    value.real = std::stod(read_word(in));
  } else if (kind == "floats") {
    for (double x = 0; in >> x;) value.reals.push_back(x);
  } else if (kind == "generator") {
    in >> value.integer;
    value.generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(value.integer));
  } else if (kind == "text") {
    in >> value.text;
  } else {
    throw std::runtime_error("cannot read: " + line);
  }
  return value;
}

std::string run(const std::string& key, const std::vector<std::string>& lines) {
  const auto found = table().find(key);
  if (found == table().end()) return "error this program has no call of it\n";
  try {
    std::vector<Value> arguments;
    for (const auto& line : lines) arguments.push_back(read(line));
    at::manual_seed(20);
    std::string text = found->second(arguments);
    for (const auto& argument : arguments) {
      if (argument.tensor.defined()) text += describe(argument.tensor);
      for (const auto& tensor : argument.tensors) text += tensor.defined() ? describe(tensor) : "";
    }
    return text;
  } catch (const std::exception& e) {
    return "error " + first_line(e.what()) + "\n";
  }
}

}  // namespace

void add(const Entry* entries, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) table().emplace(entries[i].key, entries[i].run);
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined\n";
  std::string text = "tensor " + std::to_string(static_cast<int>(tensor.scalar_type()));
  if (tensor.layout() == at::kStrided) return text + " dense" + dense(tensor) + "\n";
  return text + " sparse" + dense(tensor.to_dense()) + "\n";
}
std::string describe(const std::vector<at::Tensor>& tensors) {
  std::string text = "list " + std::to_string(tensors.size()) + "\n";
  for (const auto& tensor : tensors) text += describe(tensor);
  return text;
}
std::string describe(bool value) {
  return value ? "bool 1\n" : "bool 0\n";
}
std::string describe(std::int64_t value) {
  return "int " + std::to_string(value) + "\n";
}
std::string describe(at::ScalarType value) {
  return "dtype " + std::to_string(static_cast<int>(value)) + "\n";
}

}  // namespace values

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  at::set_num_threads(1);
  std::ofstream out(argv[2]);
  for (const auto& c : values::read_cases(argv[1])) out << "case " << c.key << '\n' << values::run(c.key, c.arguments);
  return out.flush() ? 0 : 1;
}
