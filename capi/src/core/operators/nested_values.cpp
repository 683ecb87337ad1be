#include "core/operators/nested_values.h"

#include <algorithm>

#include "core/operators/value_memory.h"
#include "core/operators/values.h"

namespace tandem::capi {
namespace {

void check_tag(const tdm_value& value, const std::string& name) {
  if (value.tag < TDM_VALUE_NONE || value.tag > TDM_VALUE_LIST) {
    invalid("argument '" + name + "' cannot be " + describe(value));
  }
}

bool holds_values(const tdm_value& value) {
  return value.tag >= TDM_VALUE_TUPLE && value.tag <= TDM_VALUE_LIST;
}

void visit_tensors(const tdm_value& value, const std::string& name, int depth,
                   const std::function<void(const at::Tensor&)>& visit) {
  if (value.tag == TDM_VALUE_TENSOR) return visit(unwrap(value.as.tensor, name.c_str()));
  if (value.tag == TDM_VALUE_TENSOR_LIST) {
    for (tdm_tensor* const handle : elements_of<tdm_tensor*>(value, name)) {
      if (handle) visit(unwrap(handle, name.c_str()));
    }
  }
  check_tag(value, name);
  if (value.tag == TDM_VALUE_STRING || (value.tag >= TDM_VALUE_BOOL_LIST && value.tag <= TDM_VALUE_SCALAR_LIST)) {
    check_list(value, name.c_str());
  }
  if (value.tag == TDM_VALUE_STRING_LIST) {
    const auto texts = elements_of<const char*>(value, name);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!texts[i]) invalid("argument '" + element_name(name, i) + "' is NULL");
    }
  }
  if (!holds_values(value)) return;
  if (depth == kMaxNesting) nests_too_deep(name);
  const auto elements = elements_of<tdm_value>(value, name);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    visit_tensors(elements[i], element_name(name, i), depth + 1, visit);
  }
}

template <typename T>
tdm_value copy_numbers(const tdm_value& value, const std::string& name) {
  const auto elements = elements_of<T>(value, name);
  tdm_value copy = make_value(value.tag);
  T* const memory = allocate<T>(elements.size());
  std::copy(elements.begin(), elements.end(), memory);
  copy.as.list = {memory, elements.size()};
  return copy;
}

tdm_value copy_nested(const tdm_value& value, const std::string& name, int depth,
                      const std::function<at::Tensor(const at::Tensor&)>& replace) {
  switch (value.tag) {
    case TDM_VALUE_TENSOR:
      return from_tensor(replace(unwrap(value.as.tensor, name.c_str())));
    case TDM_VALUE_TENSOR_LIST: {
      // One after the other in memory of the copy's, so that an error frees those that are there.
      const auto handles = elements_of<tdm_tensor*>(value, name);
      tdm_value copy = make_value(value.tag);
      auto** const copies = allocate<tdm_tensor*>(handles.size());
      copy.as.list = {copies, handles.size()};
      try {
        for (std::size_t i = 0; i < handles.size(); ++i) {
          if (handles[i]) copies[i] = make_tensor_handle(replace(unwrap(handles[i], name.c_str())));
        }
      } catch (...) {
        tdm_value_clear(&copy);
        throw;
      }
      return copy;
    }
    case TDM_VALUE_STRING: {
      check_list(value, name.c_str());
      return make_text({value.as.string.data ? value.as.string.data : "", value.as.string.size});
    }
    case TDM_VALUE_BOOL_LIST:
      return copy_numbers<std::uint8_t>(value, name);
    case TDM_VALUE_INT_LIST:
      return copy_numbers<std::int64_t>(value, name);
    case TDM_VALUE_DOUBLE_LIST:
      return copy_numbers<double>(value, name);
    case TDM_VALUE_SCALAR_LIST:
      return copy_numbers<tdm_value>(value, name);
    case TDM_VALUE_STRING_LIST: {
      const auto texts = elements_of<const char*>(value, name);
      tdm_value copy = make_value(value.tag);
      auto** const copies = allocate<char*>(texts.size());
      copy.as.list = {copies, texts.size()};
      try {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          if (!texts[i]) invalid("argument '" + element_name(name, i) + "' is NULL");
          copies[i] = copy_text(texts[i]);
        }
      } catch (...) {
        tdm_value_clear(&copy);
        throw;
      }
      return copy;
    }
    case TDM_VALUE_TUPLE:
    case TDM_VALUE_DICT:
    case TDM_VALUE_LIST: {
      if (depth == kMaxNesting) nests_too_deep(name);
      const auto elements = elements_of<tdm_value>(value, name);
      ListMaker copies(value.tag, elements.size());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        copies.add(copy_nested(elements[i], element_name(name, i), depth + 1, replace));
      }
      return copies.take();
    }
    default:
      check_tag(value, name);
      return value;
  }
}

}  // namespace

void nests_too_deep(const std::string& name) {
  invalid("argument '" + name.substr(0, name.find('[', name.find(']'))) + "' nests more than " +
          std::to_string(kMaxNesting) + " values in one another; a value must not contain itself");
}

void for_each_tensor(const tdm_value& value, const std::string& name,
                     const std::function<void(const at::Tensor&)>& visit) {
  visit_tensors(value, name, 0, visit);
}

tdm_value copy_value(const tdm_value& value, const std::string& name,
                     const std::function<at::Tensor(const at::Tensor&)>& replace) {
  return copy_nested(value, name, 0, replace);
}

}  // namespace tandem::capi
