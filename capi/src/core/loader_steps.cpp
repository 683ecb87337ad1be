// What a loader's threads do with batches: transforms, functions of the caller's, statistics.
#include "core/callback.h"
#include "core/dynamic_loader_handle.h"
#include "core/handles.h"
#include "core/loader_handle.h"
#include "core/options.h"
#include "core/strings.h"
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

// Of both kinds of loaders.
template <typename Loader>
tdm_error* add_transforms(const char* function, Loader* loader, const char* transforms) {
  return guard(function, [&] {
    not_null(loader, "loader");
    not_null(transforms, "transforms");
    loader->loader.add_transform(tandem::parse_transforms(transforms));
  });
}

template <typename Loader>
tdm_error* add_step(const char* function, Loader* loader, Step step, const char* const* adds, size_t add_count,
                    void* user_data, void (*destroy)(void* user_data)) {
  return guard(function, [&] {
    not_null(loader, "loader");
    if (!step) invalid("argument 'step' is NULL");
    auto names = to_strings(adds, add_count, "adds");
    auto callback = std::make_shared<Callback>(user_data);
    loader->loader.add_transform(std::make_shared<CallbackStep>(step, std::move(names), callback));
    loader->field_count += add_count;
    if (destroy) callback->adopt(destroy);
  });
}

template <typename Loader>
tdm_error* get_statistics(const char* function, const Loader* loader, tdm_loader_statistics* out) {
  return guard(function, [&] {
    not_null(loader, "loader");
    check_struct_size(not_null(out, "out")->struct_size, "tdm_loader_statistics");
    const tandem::LoaderStatistics now = loader->loader.statistics();
    write_struct<tdm_loader_statistics>(
        out,
        {sizeof(tdm_loader_statistics), now.batches, now.samples, now.bytes, now.most_bytes_ready, now.threads,
         nanoseconds(now.reading), nanoseconds(now.decoding), nanoseconds(now.transforming), nanoseconds(now.pinning),
         nanoseconds(now.waiting_for_room), now.delivered, nanoseconds(now.waiting), nanoseconds(now.computing),
         static_cast<tdm_loader_bottleneck>(now.bottleneck()), 0, nanoseconds(now.copying)},
        "tdm_loader_statistics");
  });
}

template <typename Loader>
tdm_error* statistics_text(const char* function, const Loader* loader, tdm_string** out) {
  return guard(function, [&] {
    not_null(loader, "loader");
    not_null(out, "out");
    *out = make_string(loader->loader.statistics().text());
  });
}

}  // namespace

tdm_error* tdm_loader_add_transforms(tdm_loader* loader, const char* transforms) {
  return add_transforms("tdm_loader_add_transforms", loader, transforms);
}

tdm_error* tdm_loader_add_step(tdm_loader* loader, tdm_error* (*step)(void* user_data, const tdm_step_batch* batch),
                               const char* const* adds, size_t add_count, void* user_data,
                               void (*destroy)(void* user_data)) {
  return add_step("tdm_loader_add_step", loader, step, adds, add_count, user_data, destroy);
}

tdm_error* tdm_loader_get_statistics(const tdm_loader* loader, tdm_loader_statistics* out) {
  return get_statistics("tdm_loader_get_statistics", loader, out);
}

tdm_error* tdm_loader_statistics_text(const tdm_loader* loader, tdm_string** out) {
  return statistics_text("tdm_loader_statistics_text", loader, out);
}

tdm_error* tdm_dynamic_loader_add_transforms(tdm_dynamic_loader* loader, const char* transforms) {
  return add_transforms("tdm_dynamic_loader_add_transforms", loader, transforms);
}

tdm_error* tdm_dynamic_loader_add_step(tdm_dynamic_loader* loader,
                                       tdm_error* (*step)(void* user_data, const tdm_step_batch* batch),
                                       const char* const* adds, size_t add_count, void* user_data,
                                       void (*destroy)(void* user_data)) {
  return add_step("tdm_dynamic_loader_add_step", loader, step, adds, add_count, user_data, destroy);
}

tdm_error* tdm_dynamic_loader_get_statistics(const tdm_dynamic_loader* loader, tdm_loader_statistics* out) {
  return get_statistics("tdm_dynamic_loader_get_statistics", loader, out);
}

tdm_error* tdm_dynamic_loader_statistics_text(const tdm_dynamic_loader* loader, tdm_string** out) {
  return statistics_text("tdm_dynamic_loader_statistics_text", loader, out);
}
