// Schedulers of learning rates by name, and by functions of the caller's.
#include <algorithm>

#include "core/call/callback.h"
#include "core/call/named_options.h"
#include "core/call/numbers.h"
#include "core/training/optimizer_handle.h"
#include "core/training/pt_values.h"
#include "tandem/lr_scheduler.h"

struct tdm_lr_scheduler : tandem::capi::Handle<tandem::Kind::kLrScheduler> {
  explicit tdm_lr_scheduler(std::shared_ptr<tandem::optim::LrScheduler> made) : scheduler(std::move(made)) {}

  std::shared_ptr<tandem::optim::LrScheduler> scheduler;  // those made of it hold it too
};

using namespace tandem::capi;

namespace {

using FactorFunction = tdm_error* (*)(void* user_data, int64_t group, double at, double* factor);

// What the function says for a group.
tandem::optim::GroupFunction calling(FactorFunction function, const std::shared_ptr<Callback>& callback) {
  return [function, callback](std::size_t group, double at) {
    double factor = 0;
    run_callback(
        "a function of learning rates",
        [&] { return function(callback->user_data(), static_cast<std::int64_t>(group), at, &factor); }, [] {});
    return factor;
  };
}

// A callback that is called while a scheduler steps may free its handle.
std::shared_ptr<tandem::optim::LrScheduler> held(const tdm_lr_scheduler* scheduler) {
  return not_null(scheduler, "scheduler")->scheduler;
}

std::vector<std::shared_ptr<tandem::optim::LrScheduler>> to_schedulers(tdm_lr_scheduler* const* schedulers,
                                                                       std::size_t count) {
  check_count(count, "schedulers");
  if (count != 0) not_null(schedulers, "schedulers");
  std::vector<std::shared_ptr<tandem::optim::LrScheduler>> list;
  for (std::size_t i = 0; i < count; ++i) {
    list.push_back(not_null(schedulers[i], ("schedulers[" + std::to_string(i) + "]").c_str())->scheduler);
  }
  return list;
}

// A state as values have it: lists are of any type. The keys of what counts, as MultiStepLR's milestones, are numbers.
at::IValue with_plain_lists(const at::IValue& value) {
  if (value.isGenericDict()) {
    const auto given = value.toGenericDict();
    if (given.keyType()->kind() != c10::TypeKind::StringType) return value;
    tandem::optim::SchedulerState dict(c10::StringType::get(), c10::AnyType::get());
    for (const auto& item : given) dict.insert(item.key(), with_plain_lists(item.value()));
    return dict;
  }
  if (!value.isList() || value.isIntList() || value.isDoubleList()) return value;
  c10::impl::GenericList list(c10::AnyType::get());
  for (const at::IValue& one : value.toListRef()) list.push_back(with_plain_lists(one));
  return list;
}

// Python has lists where it says tuples, of what are not all numbers.
void tuples_to_lists(tdm_value& value) {
  if (value.tag != TDM_VALUE_TUPLE && value.tag != TDM_VALUE_DICT) return;
  if (value.tag == TDM_VALUE_TUPLE) value.tag = TDM_VALUE_LIST;
  auto* const elements = static_cast<tdm_value*>(const_cast<void*>(value.as.list.data));
  std::for_each(elements, elements + value.as.list.size, tuples_to_lists);
}

// And back, also from what a file of Python's has: numbers as keys, lists and tuples.
at::IValue from_values(const tandem::PtValue& value) {
  if (const auto* const dict = value.get_if<tandem::PtDict>()) {
    tandem::optim::SchedulerState state(c10::StringType::get(), c10::AnyType::get());
    for (const tandem::PtItem& item : dict->items) {
      const auto* const number = item.key.get_if<std::int64_t>();
      state.insert(number ? std::to_string(*number) : *item.key.get_if<std::string>(), from_values(item.value));
    }
    return state;
  }
  const auto* const list = value.get_if<tandem::PtList>();
  const auto* const tuple = value.get_if<tandem::PtTuple>();
  if (list || tuple) {
    c10::impl::GenericList made(c10::AnyType::get());
    for (const tandem::PtValue& one : list ? list->items : tuple->items) made.push_back(from_values(one));
    return made;
  }
  if (const auto* const flag = value.get_if<bool>()) return *flag;
  if (const auto* const number = value.get_if<std::int64_t>()) return *number;
  if (const auto* const real = value.get_if<double>()) return *real;
  if (const auto* const text = value.get_if<std::string>()) return *text;
  if (value.get_if<std::monostate>()) return {};
  invalid("argument 'state' has a tensor, dtype or device, which no scheduler has");
}

}  // namespace

tdm_error* tdm_lr_scheduler_create(const char* type, tdm_optimizer* optimizer, const tdm_option* options,
                                   size_t option_count, tdm_lr_scheduler** out) {
  return guard("tdm_lr_scheduler_create", [&] {
    not_null(type, "type");
    not_null(optimizer, "optimizer");
    not_null(out, "out");
    *out = new tdm_lr_scheduler(
        tandem::optim::make_lr_scheduler(type, optimizer->optimizer, to_options(options, option_count)));
  });
}

tdm_error* tdm_lr_scheduler_create_with_function(const char* type, tdm_optimizer* optimizer, const tdm_option* options,
                                                 size_t option_count, FactorFunction function, void* user_data,
                                                 void (*destroy)(void* user_data), tdm_lr_scheduler** out) {
  return guard("tdm_lr_scheduler_create_with_function", [&] {
    not_null(type, "type");
    not_null(optimizer, "optimizer");
    not_null(function, "function");
    not_null(out, "out");
    const auto callback = std::make_shared<Callback>(user_data);
    *out = new tdm_lr_scheduler(tandem::optim::make_lr_scheduler(
        type, optimizer->optimizer, to_options(options, option_count), calling(function, callback)));
    callback->adopt(destroy);
  });
}

tdm_error* tdm_lr_scheduler_create_sequential(tdm_optimizer* optimizer, tdm_lr_scheduler* const* schedulers,
                                              size_t count, const int64_t* milestones, size_t milestone_count,
                                              int64_t last_epoch, tdm_lr_scheduler** out) {
  return guard("tdm_lr_scheduler_create_sequential", [&] {
    not_null(optimizer, "optimizer");
    auto parts = to_schedulers(schedulers, count);
    auto numbers = to_numbers(milestones, milestone_count, "milestones");
    not_null(out, "out");
    *out = new tdm_lr_scheduler(
        tandem::optim::make_sequential_lr(optimizer->optimizer, std::move(parts), std::move(numbers), last_epoch));
  });
}

tdm_error* tdm_lr_scheduler_create_chained(tdm_lr_scheduler* const* schedulers, size_t count, tdm_lr_scheduler** out) {
  return guard("tdm_lr_scheduler_create_chained", [&] {
    auto parts = to_schedulers(schedulers, count);
    not_null(out, "out");
    *out = new tdm_lr_scheduler(tandem::optim::make_chained_scheduler(std::move(parts)));
  });
}

void tdm_lr_scheduler_free(tdm_lr_scheduler* scheduler) {
  tandem::capi::free_handle("tdm_lr_scheduler_free", scheduler);
}

tdm_error* tdm_lr_scheduler_step(tdm_lr_scheduler* scheduler) {
  return guard("tdm_lr_scheduler_step", [&] { held(scheduler)->step(); });
}

tdm_error* tdm_lr_scheduler_step_metric(tdm_lr_scheduler* scheduler, double metric) {
  return guard("tdm_lr_scheduler_step_metric", [&] { held(scheduler)->step(metric); });
}

tdm_error* tdm_lr_scheduler_step_to(tdm_lr_scheduler* scheduler, double epoch) {
  return guard("tdm_lr_scheduler_step_to", [&] { held(scheduler)->step_to(epoch); });
}

tdm_error* tdm_lr_scheduler_last_lr(const tdm_lr_scheduler* scheduler, tdm_value* out) {
  return guard("tdm_lr_scheduler_last_lr", [&] {
    not_null(scheduler, "scheduler");
    not_null(out, "out");
    *out = from_ivalue(scheduler->scheduler->last_lr());
  });
}

tdm_error* tdm_lr_scheduler_state(const tdm_lr_scheduler* scheduler, tdm_value* out) {
  return guard("tdm_lr_scheduler_state", [&] {
    not_null(scheduler, "scheduler");
    not_null(out, "out");
    *out = from_ivalue(with_plain_lists(scheduler->scheduler->state()));
    tuples_to_lists(*out);
  });
}

tdm_error* tdm_lr_scheduler_load_state(tdm_lr_scheduler* scheduler, const tdm_value* state) {
  return guard("tdm_lr_scheduler_load_state", [&] {
    const auto loading = held(scheduler);
    const tandem::PtValue given = to_pt(*not_null(state, "state"), "state");
    if (!given.get_if<tandem::PtDict>()) invalid("argument 'state' must be a dict, not " + describe(*state));
    loading->load_state(from_values(given).toGenericDict());
  });
}
