// Calls every operator of cases.txt through the header-only facade and writes what came out, as unboxed.cpp does:
// facade CASES RESULTS
#include "values/facade.h"

#include <map>

#include "values/cases.h"

namespace values {
namespace {

std::map<std::string, Binding>& table() {
  static std::map<std::string, Binding> bindings;
  return bindings;
}

Tensor read_tensor(std::istream& in) {
  const TensorText text = TensorText::read(in);
  const auto count = static_cast<int64_t>(text.elements.size());
  Tensor tensor = Tensor::from_vector(text.elements, TDM_DTYPE_FLOAT64, {count});
  if (text.dtype == TDM_DTYPE_COMPLEX64) tensor = ops::view_as_complex(ops::view(tensor, {-1, 2}));
  tensor = ops::clone(ops::view(ops::to(tensor, text.dtype), text.sizes));
  if (text.form == "coo") return ops::to_sparse(tensor);
  if (text.form == "csr") return ops::to_sparse_csr(tensor);
  if (text.form == "csc") return ops::to_sparse_csc(tensor);
  return tensor;
}

ops::Scalar read_scalar(std::istream& in) {
  const std::string kind = read_word(in), text = read_word(in);
  if (kind == "int") return static_cast<int64_t>(std::stoll(text));
  if (kind == "bool") return text == "1";
  return std::stod(text);
}

// What follows an argument's kind.
std::istringstream rest(const std::string& line) {
  std::istringstream in(line);
  read_word(in);
  return in;
}

std::string run(const Case& c) {
  const auto found = table().find(c.key);
  if (found == table().end()) return "error this program has no call of it\n";
  try {
    Given given(c.arguments);
    tandem::abi::manual_seed(20);
    const std::string results = found->second.run(given);
    return results + given.after();
  } catch (const tandem::abi::Error& e) {
    return "error " + first_line(e.what()) + "\n";
  }
}

}  // namespace

Given::Given(std::vector<std::string> lines) : lines_(std::move(lines)), made_(lines_.size()) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::istringstream in(lines_[i]);
    const std::string kind = read_word(in);
    size_t count = kind == "tensor" ? 1 : 0;
    if (kind == "tensor") made_[i].push_back(read_tensor(in));
    if (kind != "tensors") continue;
    for (in >> count; made_[i].size() < count;) {
      made_[i].push_back(read_word(in) == "none" ? Tensor() : read_tensor(in));
    }
  }
}

TensorList Given::tensors(int i) {
  TensorList list;
  for (const Tensor& tensor : made_[i]) tensor.defined() ? list.add(tensor) : list.add_none();
  return list;
}

ops::Scalar Given::scalar(int i) {
  auto in = rest(lines_[i]);
  return read_scalar(in);
}

std::vector<ops::Scalar> Given::scalars(int i) {
  auto in = rest(lines_[i]);
  size_t count = 0;
  in >> count;
  std::vector<ops::Scalar> list;
  while (list.size() < count) list.push_back(read_scalar(in));
  return list;
}

int64_t Given::integer(int i) {
  auto in = rest(lines_[i]);
  return std::stoll(read_word(in));
}

std::vector<int64_t> Given::integers(int i) {
  auto in = rest(lines_[i]);
  std::vector<int64_t> list;
  for (int64_t n = 0; in >> n;) list.push_back(n);
  return list;
}

double Given::real(int i) {
  auto in = rest(lines_[i]);
  return std::stod(read_word(in));
}

std::vector<double> Given::reals(int i) {
  auto in = rest(lines_[i]);
  std::vector<double> list;
  for (double x = 0; in >> x;) list.push_back(x);
  return list;
}

tandem::abi::Generator Given::generator(int i) {
  tandem::abi::Generator generator{Device(TDM_DEVICE_CPU)};
  generator.manual_seed(static_cast<uint64_t>(integer(i)));
  return generator;
}

std::string Given::string(int i) {
  auto in = rest(lines_[i]);
  return read_word(in);
}

std::string Given::after() const {
  std::string text;
  for (const auto& tensors : made_) {
    for (const Tensor& tensor : tensors) text += tensor.defined() ? describe(tensor) : "";
  }
  return text;
}

std::string describe(const Tensor& tensor) {
  if (!tensor.defined()) return "undefined\n";
  const bool sparse = ops::sparse_dim(tensor) > 0;
  const int32_t dtype = tensor.dtype();
  const bool is_complex = ops::is_complex(tensor), is_float = ops::is_floating_point(tensor);
  Tensor dense = sparse ? ops::to_dense(tensor) : tensor;
  std::ostringstream out;
  out << "tensor " << dtype << (sparse ? " sparse" : " dense");
  for (const int64_t size : dense.sizes()) out << ' ' << size;
  out << ':';
  dense = ops::resolve_neg(ops::resolve_conj(dense));
  if (is_complex) dense = ops::view_as_real(ops::to(dense, TDM_DTYPE_COMPLEX128));
  dense = ops::contiguous(ops::to(dense, is_complex || is_float ? TDM_DTYPE_FLOAT64 : TDM_DTYPE_INT64));
  if (is_complex || is_float) {
    for (const double x : dense.to_vector<double>()) out << number(x);
  } else {
    for (const int64_t n : dense.to_vector<int64_t>()) out << ' ' << n;
  }
  return out.str() + "\n";
}
std::string describe(const std::vector<Tensor>& tensors) {
  std::string text = "list " + std::to_string(tensors.size()) + "\n";
  for (const auto& tensor : tensors) text += describe(tensor);
  return text;
}
std::string describe(bool value) {
  return value ? "bool 1\n" : "bool 0\n";
}
std::string describe(int64_t value) {
  return "int " + std::to_string(value) + "\n";
}
std::string describe(int32_t dtype) {
  return "dtype " + std::to_string(dtype) + "\n";
}

void add(const Binding* bindings, size_t count) {
  for (size_t i = 0; i < count; ++i) table().emplace(bindings[i].key, bindings[i]);
}

}  // namespace values

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  tandem::abi::set_num_threads(1);
  std::ofstream out(argv[2]);
  for (const auto& c : values::read_cases(argv[1])) out << "case " << c.key << '\n' << values::run(c);
  return out.flush() ? 0 : 1;
}
