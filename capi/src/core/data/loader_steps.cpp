// What a loader's threads do with batches: transforms, functions of the caller's, statistics.
#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/data/loader_handle.h"
#include "core/handles/handles.h"
#include "tandem/sample_options.h"

using namespace tandem::capi;

namespace {

using Step = tdm_error* (*)(void* user_data, const tdm_step_batch* batch);

constexpr const char* kLoaderStep = "a loader's step";

// Calls the caller's function with handles of a scope of its own.
class CallbackStep final : public tandem::BatchTransform {
 public:
  CallbackStep(Step step, std::vector<std::string> adds, std::shared_ptr<Callback> callback)
      : adds_(std::move(adds)),
        callback_(std::move(callback)),
        step_(tandem::custom_step([this, step](tandem::Batch& batch) { call(step, batch); }, adds_)) {}

  void apply(tandem::Batch& batch) override { step_->apply(batch); }
  std::vector<std::string> names_after(std::vector<std::string> names) const override {
    return step_->names_after(std::move(names));
  }

 private:
  void call(Step step, tandem::Batch& batch) const {
    std::vector<const char*> names;
    for (const std::string& name : batch.names) names.push_back(name.c_str());
    const std::size_t given = batch.tensors.size();
    if (names.size() != given) invalid("the data set's tensors have no names, which a step needs");
    std::vector<tdm_tensor*> outputs(given + adds_.size());
    run_callback(
        kLoaderStep,
        [&] {
          std::vector<tdm_tensor*> tensors;
          for (const at::Tensor& tensor : batch.tensors) tensors.push_back(make_tensor_handle(tensor));
          const tdm_step_batch described{sizeof(tdm_step_batch),
                                         tensors.data(),
                                         names.data(),
                                         given,
                                         outputs.data(),
                                         outputs.size(),
                                         batch.sample_randomness.data(),
                                         static_cast<std::int64_t>(batch.sample_randomness.size())};
          return step(callback_->user_data(), &described);
        },
        [&] {
          for (std::size_t i = 0; i < outputs.size(); ++i) {
            const bool added = i >= given;
            if (!outputs[i] && !added) continue;
            const std::string name = added ? adds_[i - given] : batch.names[i];
            const at::Tensor& tensor = unwrap(outputs[i], ("the step's output '" + name + "'").c_str());
            if (added) {
              batch.names.push_back(name);
              batch.tensors.push_back(tensor);
            } else {
              batch.tensors[i] = tensor;
            }
          }
        });
  }

  std::vector<std::string> adds_;
  std::shared_ptr<Callback> callback_;
  std::unique_ptr<tandem::BatchTransform> step_;
};

std::int64_t nanoseconds(std::chrono::nanoseconds time) {
  return time.count();
}

}  // namespace

tdm_error* tdm_loader_add_transforms(tdm_loader* loader, const char* transforms) {
  return guard("tdm_loader_add_transforms", [&] {
    not_null(loader, "loader");
    not_null(transforms, "transforms");
    const std::shared_ptr<tandem::BatchTransform> parsed = tandem::parse_transforms(transforms);
    with_either(*loader, [&](auto& native) { native.add_transform(parsed); });
  });
}

tdm_error* tdm_loader_add_step(tdm_loader* loader, Step step, const char* const* adds, size_t add_count,
                               void* user_data, void (*destroy)(void* user_data)) {
  return guard("tdm_loader_add_step", [&] {
    not_null(loader, "loader");
    if (!step) invalid("argument 'step' is NULL");
    auto names = to_strings(adds, add_count, "adds");
    auto callback = std::make_shared<Callback>(user_data);
    const auto added = std::make_shared<CallbackStep>(step, std::move(names), callback);
    with_either(*loader, [&](auto& native) { native.add_transform(added); });
    loader->field_count += add_count;
    if (destroy) callback->adopt(destroy);
  });
}

tdm_error* tdm_loader_get_statistics(const tdm_loader* loader, tdm_loader_statistics* out) {
  return guard("tdm_loader_get_statistics", [&] {
    not_null(loader, "loader");
    check_struct_size(not_null(out, "out")->struct_size, "tdm_loader_statistics");
    const tandem::LoaderStatistics now = with_either(*loader, [](const auto& native) { return native.statistics(); });
    write_struct<tdm_loader_statistics>(
        out,
        {sizeof(tdm_loader_statistics), now.batches, now.samples, now.bytes, now.most_bytes_ready, now.threads,
         nanoseconds(now.reading), nanoseconds(now.decoding), nanoseconds(now.transforming), nanoseconds(now.pinning),
         nanoseconds(now.copying), nanoseconds(now.waiting_for_room), now.delivered, nanoseconds(now.waiting),
         nanoseconds(now.computing), static_cast<tdm_loader_bottleneck>(now.bottleneck())},
        "tdm_loader_statistics");
  });
}

tdm_error* tdm_loader_statistics_text(const tdm_loader* loader, tdm_string** out) {
  return guard("tdm_loader_statistics_text", [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = make_string(with_either(*loader, [](const auto& native) { return native.statistics().text(); }));
  });
}
