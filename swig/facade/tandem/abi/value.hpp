// Tagged values: arguments, options and results of operators and modules.
#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/abi/generator.hpp"
#include "tandem/abi/rref.hpp"
#include "tandem/abi/tensor.hpp"

namespace tandem::abi {

// A row of argument values. Tensors are borrowed until the call; everything else is copied.
class Arguments {
 public:
  Arguments() = default;
  Arguments(Arguments&&) = default;
  Arguments& operator=(Arguments&&) = default;

  // Arguments::of(x, y, int64_t{1}): each through the fitting add().
  template <typename... Values>
  static Arguments of(const Values&... values) {
    Arguments arguments;
    (arguments.add(values), ...);
    return arguments;
  }

  void add(const Tensor& value) {
    if (!value.raw()) return add_none();
    push(TDM_VALUE_TENSOR).as.tensor = value.raw();
  }
  // A tensor by its handle.
  void add_borrowed(tdm_tensor* handle) {
    if (!handle) return add_none();
    push(TDM_VALUE_TENSOR).as.tensor = handle;
  }
  void add(const Generator& value) {
    if (!value.raw()) return add_none();
    push(TDM_VALUE_GENERATOR).as.generator = value.raw();
  }
  // Borrowed until the call, as a tensor is.
  void add_rref(const Rref& value) { push(TDM_VALUE_RREF).as.rref = value.raw(); }
  void add(bool value) { add_bool(value); }
  void add(int value) { add_int(value); }
  void add(int64_t value) { add_int(value); }
  void add(double value) { add_double(value); }
  void add(const char* value) { add_string(value); }
  void add(const std::string& value) { add_string(value); }
  void add(const Device& value) { add_device(value.type, value.index); }
  void add(const std::vector<int64_t>& value) { add_ints(value); }
  void add(const std::vector<double>& value) { add_doubles(value); }
  void add(const TensorList& value) { add_tensors(value); }
  void add(std::nullptr_t) { add_none(); }

  void add_none() { push(TDM_VALUE_NONE); }
  // The schema's default.
  void add_default() { push(TDM_VALUE_DEFAULT); }
  void add_bool(bool value) { push(TDM_VALUE_BOOL).as.boolean = value; }
  void add_int(int64_t value) { push(TDM_VALUE_INT).as.integer = value; }
  void add_double(double value) { push(TDM_VALUE_DOUBLE).as.real = value; }
  void add_complex(double re, double im) { push(TDM_VALUE_COMPLEX).as.complex_number = {re, im}; }
  void add_dtype(int32_t value) { push(TDM_VALUE_DTYPE).as.enumeration = value; }
  void add_layout(int32_t value) { push(TDM_VALUE_LAYOUT).as.enumeration = value; }
  void add_memory_format(int32_t value) { push(TDM_VALUE_MEMORY_FORMAT).as.enumeration = value; }
  void add_device(int32_t type, int32_t index) { push(TDM_VALUE_DEVICE).as.device = {type, index}; }
  void add_string(const std::string& value) {
    const auto& kept = keep(value);
    push(TDM_VALUE_STRING).as.string = {kept.data(), kept.size()};
  }
  void add_bytes(const std::string& bytes) { add_string(bytes); }
  void add_ints(const std::vector<int64_t>& value) { push_list(TDM_VALUE_INT_LIST, keep(value)); }
  void add_doubles(const std::vector<double>& value) { push_list(TDM_VALUE_DOUBLE_LIST, keep(value)); }
  // Of 0 and 1.
  void add_bools(const std::vector<uint8_t>& value) { push_list(TDM_VALUE_BOOL_LIST, keep(value)); }
  void add_tensors(const TensorList& value) { push_list(TDM_VALUE_TENSOR_LIST, keep(value)); }
  // One value: such as an LSTM's states.
  void add_tuple(const TensorList& value) {
    std::vector<tdm_value> elements(value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      if (!value.data()[i]) continue;
      elements[i].tag = TDM_VALUE_TENSOR;
      elements[i].as.tensor = value.data()[i];
    }
    push_list(TDM_VALUE_TUPLE, keep(std::move(elements)));
  }
  // One value of those in `elements`, which is left empty: TDM_VALUE_TUPLE, TDM_VALUE_LIST or, of keys and values in
  // turn, TDM_VALUE_DICT.
  void add_nested(int32_t tag, Arguments& elements) {
    push_list(tag, keep(std::make_unique<Arguments>(std::move(elements)))->values_);
    elements.clear();
  }
  // A list of numbers, each a value of its own.
  void add_scalars(const Arguments& numbers) {
    push_list(TDM_VALUE_SCALAR_LIST, keep(std::vector<tdm_value>(numbers.data(), numbers.data() + numbers.size())));
  }
  void add_strings(const std::vector<std::string>& value) {
    Strings kept;
    kept.texts = std::make_unique<std::vector<std::string>>(value);
    kept.pointers = c_strings(*kept.texts);
    push_list(TDM_VALUE_STRING_LIST, keep(std::move(kept)).pointers);
  }

  void clear() {
    values_.clear();
    kept_.clear();
  }
  size_t size() const { return values_.size(); }
  const tdm_value* data() const { return values_.data(); }

 private:
  struct Strings {
    std::unique_ptr<std::vector<std::string>> texts;
    std::vector<const char*> pointers;
  };
  using Kept = std::variant<std::string, std::vector<int64_t>, std::vector<double>, std::vector<uint8_t>, TensorList,
                            Strings, std::vector<tdm_value>, std::unique_ptr<Arguments>>;

  tdm_value& push(int32_t tag) {
    values_.emplace_back();
    values_.back().tag = tag;
    return values_.back();
  }
  template <typename List>
  void push_list(int32_t tag, const List& list) {
    push(tag).as.list = {list.data(), list.size()};
  }
  // A deque does not move its elements, so values may point into them.
  template <typename T>
  const std::decay_t<T>& keep(T&& value) {
    return std::get<std::decay_t<T>>(kept_.emplace_back(std::forward<T>(value)));
  }

  std::vector<tdm_value> values_;
  std::deque<Kept> kept_;
};

// The only value.
inline const tdm_value* one(const Arguments& value) {
  if (value.size() != 1) throw Error(TDM_ERROR_INVALID_ARGUMENT, "Arguments", "give one value");
  return value.data();
}

// Options by name, as modules and optimizers take them.
class Options {
 public:
  Options() = default;
  Options(Options&&) = default;
  Options& operator=(Options&&) = default;

  template <typename Value>
  Options& set(const std::string& name, const Value& value) {
    names_.push_back(name);
    values_.add(value);
    return *this;
  }
  void set_bool(const std::string& name, bool value) { set(name, value); }
  void set_int(const std::string& name, int64_t value) { set(name, value); }
  void set_double(const std::string& name, double value) { set(name, value); }
  void set_string(const std::string& name, const std::string& value) { set(name, value); }
  void set_ints(const std::string& name, const std::vector<int64_t>& value) { set(name, value); }
  void set_doubles(const std::string& name, const std::vector<double>& value) { set(name, value); }
  // The tensor must live until the options were used.
  void set_tensor(const std::string& name, const Tensor& value) { set(name, value); }
  void set_none(const std::string& name) { set(name, nullptr); }

  size_t size() const { return names_.size(); }
  // The C ABI's options; they point into this object.
  std::vector<tdm_option> raw() const {
    std::vector<tdm_option> options;
    for (size_t i = 0; i < size(); ++i) options.push_back({names_[i].c_str(), values_.data()[i]});
    return options;
  }

 private:
  std::deque<std::string> names_;
  Arguments values_;
};

// What a call gave back; owned.
class Results {
 public:
  Results() = default;
  explicit Results(size_t room) : values_(room) {}
  Results(Results&& other) noexcept : values_(std::exchange(other.values_, {})) {}
  Results& operator=(Results&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ~Results() {
    for (tdm_value& value : values_) tdm_value_clear(&value);
  }

  size_t size() const { return values_.size(); }
  int32_t tag(size_t index) const { return at(index).tag; }
  bool flag(size_t index) const { return at(index, TDM_VALUE_BOOL).as.boolean != 0; }
  int64_t integer(size_t index) const { return at(index, TDM_VALUE_INT).as.integer; }
  double real(size_t index) const { return at(index, TDM_VALUE_DOUBLE).as.real; }
  int32_t enumeration(size_t index) const { return at(index).as.enumeration; }
  Device device(size_t index) const {
    const tdm_device& device = at(index, TDM_VALUE_DEVICE).as.device;
    return Device(device.type, device.index);
  }
  std::string string(size_t index) const {
    const auto& text = at(index, TDM_VALUE_STRING).as.string;
    return std::string(text.data, text.size);
  }
  // The same, where it may be no text.
  std::string bytes(size_t index) const { return string(index); }
  std::vector<int64_t> integers(size_t index) const { return list<int64_t>(index, TDM_VALUE_INT_LIST); }
  std::vector<double> reals(size_t index) const { return list<double>(index, TDM_VALUE_DOUBLE_LIST); }
  // Of 0 and 1.
  std::vector<int64_t> flags(size_t index) const {
    const std::vector<uint8_t> bytes = list<uint8_t>(index, TDM_VALUE_BOOL_LIST);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::string> strings(size_t index) const {
    const auto& given = at(index, TDM_VALUE_STRING_LIST).as.list;
    const auto* const texts = static_cast<const char* const*>(given.data);
    return {texts, texts + given.size};
  }

  // Takes the tensor out; undefined where the result is NONE.
  Tensor take_tensor(size_t index) {
    if (tag(index) == TDM_VALUE_NONE) return Tensor();
    tdm_value& value = const_cast<tdm_value&>(at(index, TDM_VALUE_TENSOR));
    value.tag = TDM_VALUE_NONE;
    return Tensor(std::exchange(value.as.tensor, nullptr));
  }
  Rref take_rref(size_t index) {
    tdm_value& value = const_cast<tdm_value&>(at(index, TDM_VALUE_RREF));
    value.tag = TDM_VALUE_NONE;
    return Rref(std::exchange(value.as.rref, nullptr));
  }
  // All tensors, in order, of results that are tensors and tuples of such; undefined where there is none.
  std::vector<Tensor> take_tensors() {
    std::vector<Tensor> taken;
    for (tdm_value& value : values_) take_tensors(value, taken);
    return taken;
  }
  // The elements of a tuple, a list or, keys and values in turn, a dict.
  Results take_elements(size_t index) {
    auto& list = const_cast<tdm_value&>(at(index)).as.list;
    if (tag(index) != TDM_VALUE_TUPLE && tag(index) != TDM_VALUE_LIST && tag(index) != TDM_VALUE_DICT) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Results", "the result is of another type");
    }
    const auto* elements = static_cast<const tdm_value*>(list.data);
    Results taken;
    taken.values_.assign(elements, elements + std::exchange(list.size, 0));
    return taken;
  }
  std::vector<Tensor> tensors(size_t index) const {
    const auto& given = at(index, TDM_VALUE_TENSOR_LIST).as.list;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < given.size; ++i) {
      tdm_tensor* shared = nullptr;
      tdm_tensor* element = static_cast<tdm_tensor* const*>(given.data)[i];
      if (element) check(tdm_tensor_share(element, &shared));
      tensors.emplace_back(shared);
    }
    return tensors;
  }

  tdm_value* data() { return values_.data(); }
  // After a call that may give fewer results than there was room for.
  void shrink(size_t size) { values_.resize(size); }

 private:
  const tdm_value& at(size_t index, int32_t wanted = -1) const {
    if (index >= values_.size()) throw Error(TDM_ERROR_OUT_OF_RANGE, "Results", "there are fewer results than that");
    if (wanted >= 0 && values_[index].tag != wanted) {
      throw Error(TDM_ERROR_INVALID_ARGUMENT, "Results", "the result is of another type");
    }
    return values_[index];
  }
  static void take_tensors(tdm_value& value, std::vector<Tensor>& taken) {
    if (value.tag == TDM_VALUE_TUPLE) {
      auto* elements = static_cast<tdm_value*>(const_cast<void*>(value.as.list.data));
      for (size_t i = 0; i < value.as.list.size; ++i) take_tensors(elements[i], taken);
    } else if (value.tag == TDM_VALUE_TENSOR) {
      value.tag = TDM_VALUE_NONE;
      taken.emplace_back(std::exchange(value.as.tensor, nullptr));
    } else {
      taken.emplace_back();
    }
  }
  template <typename T>
  std::vector<T> list(size_t index, int32_t tag) const {
    const auto& given = at(index, tag).as.list;
    const T* first = static_cast<const T*>(given.data);
    return std::vector<T>(first, first + given.size);
  }

  std::vector<tdm_value> values_;
};

}  // namespace tandem::abi
