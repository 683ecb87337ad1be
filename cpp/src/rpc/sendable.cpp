#include "rpc/sendable.h"

#include <c10/core/Layout.h>
#include <c10/util/Exception.h>

#include <sstream>

#include "base/invalid.h"

namespace tandem::rpc {
namespace {

constexpr int kDeepest = 100;  // lists in lists, and the like

template <typename T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

class Check {
 public:
  Check(const std::string& what, const TakesDevice& takes) : what_(what), takes_(takes) {}

  void value(const at::IValue& value, int depth) const {
    if (depth > kDeepest) refuse("is nested more than " + std::to_string(kDeepest) + " deep, or holds itself");
    if (value.isTensor()) return tensor(value.toTensor());
    if (value.isNone() || value.isBool() || value.isInt() || value.isDouble() || value.isComplexDouble() || value.isString() ||
        value.isRRef() || value.isDevice()) {
      return;
    }
    if (value.isTuple()) {
      for (const at::IValue& one : value.toTupleRef().elements()) this->value(one, depth + 1);
      return;
    }
    if (value.isList()) return list(value, depth);
    if (value.isGenericDict()) {
      for (const auto& item : value.toGenericDict()) {
        this->value(item.key(), depth + 1);
        this->value(item.value(), depth + 1);
      }
      return;
    }
    refuse("has a value of type " + value.tagKind() +
           ", which cannot be sent: values are tensors, numbers, strings, lists, tuples, dicts, none and references");
  }

 private:
  void list(const at::IValue& value, int depth) const {
    if (value.isIntList() || value.isDoubleList() || value.isBoolList()) return;  // long ones, most likely
    for (const at::IValue& one : value.toListRef()) this->value(one, depth + 1);
  }

  void tensor(const at::Tensor& tensor) const {
    const std::string reason = why_not_sendable(tensor);
    if (!reason.empty()) refuse(reason);
    if (tensor.is_cpu() || (takes_ && takes_(tensor.device()))) return;
    refuse("has a tensor on " + tensor.device().str() +
           ": copy it to the CPU first, or map that device to one of the other worker's (Options::device_maps)");
  }

  [[noreturn]] void refuse(const std::string& reason) const { invalid(what_ + " " + reason); }

  const std::string& what_;
  const TakesDevice& takes_;
};

}  // namespace

std::string why_not_sendable(const at::Tensor& tensor) {
  if (!tensor.defined()) return "has an undefined tensor: leave it out, or give none";
  const at::Layout layout = tensor.layout();
  if (tensor.is_nested()) return "has a nested tensor, which cannot be sent: pad it (Tensor::to_padded_tensor), or send its parts";
  if (layout != at::kStrided && layout != at::kSparse) {
    return "has a tensor of layout " + text_of(layout) +
           ", which cannot be sent: make it strided (Tensor::to_dense) or sparse COO (Tensor::to_sparse) first";
  }
  if (layout != at::kStrided && !tensor.is_cpu()) {
    return "has a tensor of layout " + text_of(layout) + " on " + tensor.device().str() +
           ": sparse ones are sent from the CPU alone";
  }
  if (layout == at::kStrided && !tensor.has_storage()) {
    return "has a tensor of type " + text_of(tensor.key_set()) + " without memory of its own, which cannot be sent";
  }
  return "";
}

void check_sendable(const at::IValue& value, const std::string& what, const TakesDevice& takes) {
  Check(what, takes).value(value, 0);
}

}  // namespace tandem::rpc
