#include "tandem/match_tensors.h"

#include <ATen/ATen.h>

#include <map>
#include <set>
#include <sstream>

#include "base/invalid.h"

namespace tandem {
namespace {

class Mismatches {
 public:
  template <typename... Parts>
  void add(const Parts&... parts) {
    ++count_;
    text_ << "\n  ";
    (text_ << ... << parts);
  }
  void require_none() const {
    if (count_ == 0) return;
    invalid("tensors do not match, and none was loaded (" + std::to_string(count_) + " in all):" + text_.str());
  }

 private:
  std::ostringstream text_;
  std::size_t count_ = 0;
};

// Where a NaN is like another.
bool same_values(const at::Tensor& a, const at::Tensor& b) {
  if (a.is_alias_of(b) && a.storage_offset() == b.storage_offset() && a.strides() == b.strides()) return true;
  // Float8 has no comparison.
  const auto comparable = [](const at::Tensor& tensor) {
    return tensor.element_size() == 1 && tensor.is_floating_point() ? tensor.to(at::kFloat) : tensor;
  };
  const at::Tensor left = comparable(a), right = comparable(b.to(a.device()));
  return left.eq(right).logical_or_(left.isnan().logical_and_(right.isnan())).all().item<bool>();
}

}  // namespace

Match load_tensors(const NamedTensors& into, const NamedTensors& from, const MatchOptions& options) {
  at::NoGradGuard no_grad;
  Mismatches mismatches;
  std::map<std::string, at::Tensor> given;
  for (const auto& [name, tensor] : from) {
    if (!given.emplace(name, tensor).second) mismatches.add("given twice: '", name, "'");
  }
  std::set<std::string> wanted;
  std::map<const void*, std::pair<std::string, at::Tensor>> sources;  // of each target, with the name that it has there
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const auto& [name, target] : into) {
    if (!wanted.insert(name).second) mismatches.add("wanted twice: '", name, "'");
    const auto found = given.find(name);
    if (found == given.end()) continue;
    const at::Tensor& source = found->second;
    const bool fits = source.sizes() == target.sizes();
    if (!fits) mismatches.add("shape of '", name, "': ", source.sizes(), ", wanted ", target.sizes());
    if (source.scalar_type() != target.scalar_type() && !options.convert_dtype) {
      mismatches.add("dtype of '", name, "': ", source.scalar_type(), ", wanted ", target.scalar_type());
    }
    const auto [known, is_first] = sources.emplace(target.unsafeGetTensorImpl(), std::pair{name, source});
    if (is_first) {
      copies.emplace_back(target, source);
    } else if (fits && source.sizes() == known->second.second.sizes() && !same_values(source, known->second.second)) {
      mismatches.add("'", known->second.first, "' and '", name, "' are one tensor, and their values differ");
    }
  }
  Match match;
  for (const auto& [name, target] : into) {
    if (sources.count(target.unsafeGetTensorImpl())) continue;
    match.missing.push_back(name);
    if (options.strict) mismatches.add("missing: '", name, "' ", target.sizes(), ' ', target.scalar_type());
  }
  for (const auto& [name, tensor] : from) {
    if (wanted.count(name)) continue;
    match.unexpected.push_back(name);
    if (options.strict) mismatches.add("unexpected: '", name, "' ", tensor.sizes(), ' ', tensor.scalar_type());
  }
  mismatches.require_none();
  for (const auto& [target, source] : copies) target.copy_(source);
  return match;
}

}  // namespace tandem
