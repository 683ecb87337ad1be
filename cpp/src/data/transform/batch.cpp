#include "tandem/batch.h"

#include <algorithm>

#include "tandem/batch_transform.h"
#include "tandem/error.h"

namespace tandem {
namespace {

class CustomStep final : public BatchTransform {
 public:
  CustomStep(std::function<void(Batch&)> step, Fields adds) : step_(std::move(step)), adds_(std::move(adds)) {
    if (!step_) throw Error(ErrorCode::kInvalidArgument, "a custom step needs a function");
  }
  void apply(Batch& batch) override { step_(batch); }
  std::vector<std::string> names_after(std::vector<std::string> names) const override {
    for (const std::string& added : adds_) {
      if (std::find(names.begin(), names.end(), added) != names.end()) {
        throw Error(ErrorCode::kInvalidArgument,
                    "a custom step adds field '" + added + "', which the batch has already");
      }
      names.push_back(added);
    }
    return names;
  }

 private:
  std::function<void(Batch&)> step_;
  Fields adds_;
};

}  // namespace

std::unique_ptr<BatchTransform> custom_step(std::function<void(Batch&)> step, Fields adds) {
  return std::make_unique<CustomStep>(std::move(step), std::move(adds));
}

at::Tensor& field_of(Batch& batch, const std::string& name) {
  for (std::size_t i = 0; i < batch.names.size() && i < batch.tensors.size(); ++i) {
    if (batch.names[i] == name) return batch.tensors[i];
  }
  std::string names;
  for (const std::string& one : batch.names) names += (names.empty() ? "'" : ", '") + one + "'";
  throw Error(ErrorCode::kNotFound, "the batch has no field '" + name + "', but " + (names.empty() ? "none" : names));
}

}  // namespace tandem
