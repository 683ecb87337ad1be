// Tensors from and to the caller's memory, and what they say of themselves.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "core/call/callback.h"
#include "core/handles/handles.h"

using namespace tandem::capi;
using tandem::Error;
using tandem::ErrorCode;

namespace {

// The type, sizes and bytes of a new tensor over the caller's memory, checked against each other.
struct Described {
  at::ScalarType dtype;
  at::IntArrayRef sizes;

  Described(const void* data, std::size_t data_bytes, tdm_dtype type, const std::int64_t* given, std::int64_t ndim)
      : dtype(to_scalar_type(type, "dtype")), sizes(to_sizes(given, ndim, "sizes")) {
    const auto expected = static_cast<std::size_t>(c10::multiply_integers(sizes)) * c10::elementSize(dtype);
    if (data_bytes != expected) {
      std::ostringstream message;
      message << "argument 'data_bytes' is " << data_bytes << ", but " << dtype << " of sizes " << sizes << " takes "
              << expected << " bytes";
      invalid(message.str());
    }
    if (expected != 0) not_null(data, "data");
  }
};

// The destroy function of a tensor over the caller's memory: called once, by the owner's end.
struct Blob {
  void (*destroy)(void*);
  void* user_data;
};

void end_blob(void* blob) {
  auto* owned = static_cast<Blob*>(blob);
  call_destroy(owned->destroy, owned->user_data);
  delete owned;
}

void check_bytes(const at::Tensor& tensor, std::size_t bytes, const char* pointer_name, const void* pointer) {
  if (tensor.layout() != at::kStrided) {
    invalid("a sparse tensor has no plain bytes; make it dense first (aten::to_dense)");
  }
  if (bytes != tensor.nbytes()) {
    invalid("argument 'bytes' is " + std::to_string(bytes) + ", but the tensor has " + std::to_string(tensor.nbytes()) +
            " bytes");
  }
  if (bytes != 0) not_null(pointer, pointer_name);
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg() && !tensor._is_zerotensor();
}

at::Scalar item(const at::Tensor& tensor) {
  if (tensor.numel() != 1) {
    std::ostringstream message;
    message << "a tensor of sizes " << tensor.sizes() << " has " << tensor.numel() << " elements; only one of a "
            << "single element can be read as a number";
    invalid(message.str());
  }
  return tensor.item();
}

// For infallible getters: NULL when the handle is not live.
const at::Tensor* peek(const tdm_tensor* tensor) {
  const TensorSlot* slot = live_slot(tensor);
  return slot ? &slot->tensor : nullptr;
}

template <typename T, typename Read>
T property(const tdm_tensor* tensor, T otherwise, Read&& get) {
  const at::Tensor* found = peek(tensor);
  if (!found) return otherwise;
  try {
    return get(*found);
  } catch (...) {
    return otherwise;
  }
}

}  // namespace

tdm_error* tdm_tensor_from_data(const void* data, std::size_t data_bytes, tdm_dtype dtype, const std::int64_t* sizes,
                                std::int64_t ndim, tdm_tensor** out) {
  return guard("tdm_tensor_from_data", [&] {
    not_null(out, "out");
    const Described described(data, data_bytes, dtype, sizes, ndim);
    at::Tensor tensor = at::empty(described.sizes, at::TensorOptions(described.dtype));
    if (data_bytes != 0) std::memcpy(tensor.mutable_data_ptr(), data, data_bytes);
    *out = make_tensor_handle(std::move(tensor));
  });
}

tdm_error* tdm_tensor_from_blob(void* data, std::size_t data_bytes, tdm_dtype dtype, const std::int64_t* sizes,
                                std::int64_t ndim, void (*destroy)(void* user_data), void* user_data,
                                tdm_tensor** out) {
  return guard("tdm_tensor_from_blob", [&] {
    not_null(out, "out");
    const Described described(data, data_bytes, dtype, sizes, ndim);
    // The destroy function is attached last: whatever fails before leaves the memory to the caller.
    auto blob = destroy ? std::make_unique<Blob>(Blob{destroy, user_data}) : nullptr;
    at::Tensor tensor = at::from_blob(data, described.sizes, at::TensorOptions(described.dtype));
    tdm_tensor* handle = make_tensor_handle(tensor);
    if (blob) {
      Blob* context = blob.release();
      tensor.storage().set_data_ptr_noswap(at::DataPtr(data, context, end_blob, at::kCPU));
    }
    *out = handle;
  });
}

tdm_error* tdm_tensor_share(const tdm_tensor* tensor, tdm_tensor** out) {
  return guard("tdm_tensor_share", [&] {
    not_null(out, "out");
    *out = make_tensor_handle(unwrap(tensor, "tensor"));
  });
}

std::int64_t tdm_tensor_dim(const tdm_tensor* tensor) {
  return property<std::int64_t>(tensor, 0, [](const at::Tensor& t) { return t.dim(); });
}

const std::int64_t* tdm_tensor_sizes(const tdm_tensor* tensor) {
  return property<const std::int64_t*>(tensor, nullptr, [](const at::Tensor& t) { return t.sizes().data(); });
}

const std::int64_t* tdm_tensor_strides(const tdm_tensor* tensor) {
  return property<const std::int64_t*>(tensor, nullptr, [](const at::Tensor& t) { return t.strides().data(); });
}

std::int64_t tdm_tensor_numel(const tdm_tensor* tensor) {
  return property<std::int64_t>(tensor, 0, [](const at::Tensor& t) { return t.numel(); });
}

std::size_t tdm_tensor_nbytes(const tdm_tensor* tensor) {
  return property<std::size_t>(tensor, 0, [](const at::Tensor& t) { return t.numel() * t.element_size(); });
}

std::size_t tdm_tensor_storage_nbytes(const tdm_tensor* tensor) {
  return property<std::size_t>(tensor, 0,
                               [](const at::Tensor& t) { return t.has_storage() ? t.storage().nbytes() : 0; });
}

tdm_dtype tdm_tensor_get_dtype(const tdm_tensor* tensor) {
  return property<tdm_dtype>(tensor, -1, [](const at::Tensor& t) { return from_scalar_type(t.scalar_type()); });
}

tdm_device tdm_tensor_get_device(const tdm_tensor* tensor) {
  return property(tensor, tdm_device{TDM_DEVICE_CPU, -1}, [](const at::Tensor& t) { return from_device(t.device()); });
}

tdm_layout tdm_tensor_get_layout(const tdm_tensor* tensor) {
  return property<tdm_layout>(tensor, -1, [](const at::Tensor& t) {
    const auto layout = static_cast<tdm_layout>(t.layout());
    return is_layout(layout) ? layout : -1;
  });
}

std::int32_t tdm_tensor_requires_grad(const tdm_tensor* tensor) {
  return property<std::int32_t>(tensor, 0, [](const at::Tensor& t) { return t.requires_grad(); });
}

std::int32_t tdm_tensor_is_leaf(const tdm_tensor* tensor) {
  return property<std::int32_t>(tensor, 0, [](const at::Tensor& t) { return t.is_leaf(); });
}

std::int32_t tdm_tensor_is_contiguous(const tdm_tensor* tensor) {
  return property<std::int32_t>(tensor, 0, [](const at::Tensor& t) { return t.is_contiguous(); });
}

std::int32_t tdm_tensor_is_same(const tdm_tensor* a, const tdm_tensor* b) {
  const at::Tensor *first = peek(a), *second = peek(b);
  return first && second && first->is_same(*second);
}

tdm_error* tdm_tensor_data(const tdm_tensor* tensor, void** out) {
  return guard("tdm_tensor_data", [&] {
    not_null(out, "out");
    const at::Tensor& t = unwrap(tensor, "tensor");
    if (!t.is_cpu() || t.layout() != at::kStrided) {
      std::ostringstream message;
      message << "a tensor on " << t.device() << " with layout " << t.layout() << " has no memory that can be pointed "
              << "to; copy it with tdm_tensor_copy_to()";
      invalid(message.str());
    }
    if (t.is_conj() || t.is_neg()) {
      invalid(
          "the tensor's memory holds conjugated or negated numbers; resolve it first (aten::resolve_conj, "
          "aten::resolve_neg)");
    }
    *out = t.data_ptr();
  });
}

tdm_error* tdm_tensor_copy_to(const tdm_tensor* tensor, void* destination, std::size_t bytes) {
  return guard("tdm_tensor_copy_to", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    check_bytes(t, bytes, "destination", destination);
    if (bytes == 0) return;
    if (is_plain(t)) {
      std::memcpy(destination, t.const_data_ptr(), bytes);
      return;
    }
    at::NoGradGuard no_grad;
    const at::Tensor plain = t.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
    std::memcpy(destination, plain.const_data_ptr(), bytes);
  });
}

tdm_error* tdm_tensor_copy_from(tdm_tensor* tensor, const void* source, std::size_t bytes) {
  return guard("tdm_tensor_copy_from", [&] {
    const at::Tensor& t = unwrap(tensor, "tensor");
    check_bytes(t, bytes, "source", source);
    if (bytes == 0) return;
    at::NoGradGuard no_grad;
    t.copy_(at::from_blob(const_cast<void*>(source), t.sizes(), at::TensorOptions(t.scalar_type())));
  });
}

tdm_error* tdm_tensor_item_double(const tdm_tensor* tensor, double* out) {
  return guard("tdm_tensor_item_double", [&] {
    not_null(out, "out");
    *out = item(unwrap(tensor, "tensor")).toDouble();
  });
}

tdm_error* tdm_tensor_item_int64(const tdm_tensor* tensor, std::int64_t* out) {
  return guard("tdm_tensor_item_int64", [&] {
    not_null(out, "out");
    const at::Scalar number = item(unwrap(tensor, "tensor"));
    if (number.isFloatingPoint() && number.toDouble() != std::trunc(number.toDouble())) {
      invalid("the tensor's element is " + std::to_string(number.toDouble()) +
              ", no whole number; read it with "
              "tdm_tensor_item_double()");
    }
    *out = number.toLong();
  });
}

tdm_error* tdm_tensor_to_string(const tdm_tensor* tensor, tdm_string** out) {
  return guard("tdm_tensor_to_string", [&] {
    not_null(out, "out");
    std::ostringstream text;
    text << unwrap(tensor, "tensor");
    *out = make_string(text.str());
  });
}

tdm_error* tdm_tensor_grad_fn_name(const tdm_tensor* tensor, tdm_string** out) {
  return guard("tdm_tensor_grad_fn_name", [&] {
    not_null(out, "out");
    const at::Tensor& t = unwrap(tensor, "tensor");
    std::string name;
    try {
      const auto& node = t.grad_fn();
      if (!node) {
        *out = nullptr;
        return;
      }
      name = node->name();
    } catch (const c10::Error&) {
      name = "Invalid";  // asking computes the node anew after a change in place, which may be refused
    }
    const auto scope = name.rfind("::");
    *out = make_string(scope == std::string::npos ? name : name.substr(scope + 2));
  });
}
