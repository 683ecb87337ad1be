/* The callbacks of data sets and samplers, each of which asks Go. */
#include "_cgo_export.h"

static void release(void* user_data) { tgRelease((uintptr_t)user_data); }

static tdm_error* ask_go(void* user_data, tg_data_call* data, tdm_tensor* const* inputs, size_t input_count,
                         tdm_tensor** results, size_t result_count) {
  tg_call call = {tdm_scope_current(), inputs, input_count, results, result_count, NULL, 0, NULL, NULL, NULL, 0, NULL,
                  data};
  return tgCallback((uintptr_t)user_data, &call);
}

static tdm_error* on_get(void* user_data, int64_t index, tdm_tensor** sample, size_t field_count) {
  tg_data_call data = {TG_GET, 0, 0, index, 0, NULL, 0, 0};
  return ask_go(user_data, &data, NULL, 0, sample, field_count);
}

static tdm_error* on_map(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped,
                         size_t field_count) {
  tg_data_call data = {TG_MAP, 0, 0, 0, 0, NULL, 0, 0};
  return ask_go(user_data, &data, sample, count, mapped, field_count);
}

static tdm_error* on_open(void* user_data, uint64_t seed, int64_t epoch, void** stream) {
  tg_data_call data = {TG_OPEN, seed, epoch, 0, 0, NULL, 0, 0};
  tdm_error* error = ask_go(user_data, &data, NULL, 0, NULL, 0);
  *stream = (void*)(intptr_t)data.result;
  return error;
}

static tdm_error* on_next(void* user_data, void* stream, tdm_tensor** sample, size_t field_count, int32_t* has_sample) {
  tg_data_call data = {TG_NEXT, 0, 0, 0, (intptr_t)stream, NULL, 0, 0};
  tdm_error* error = ask_go(user_data, &data, NULL, 0, sample, field_count);
  *has_sample = data.result != 0;
  return error;
}

static tdm_error* on_skip(void* user_data, void* stream, int64_t count, int64_t* skipped) {
  tg_data_call data = {TG_SKIP, 0, 0, count, (intptr_t)stream, NULL, 0, 0};
  tdm_error* error = ask_go(user_data, &data, NULL, 0, NULL, 0);
  *skipped = data.result;
  return error;
}

static void on_close(void* user_data, void* stream) {
  tg_data_call data = {TG_CLOSE, 0, 0, 0, (intptr_t)stream, NULL, 0, 0};
  tdm_error_free(ask_go(user_data, &data, NULL, 0, NULL, 0));
}

static tdm_error* on_list(void* user_data, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples,
                          size_t count) {
  tg_data_call data = {TG_LIST, seed, epoch, first, 0, samples, count, 0};
  return ask_go(user_data, &data, NULL, 0, NULL, 0);
}

tdm_error* tg_dataset_create(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint,
                             uintptr_t handle, tdm_dataset** out) {
  return tdm_dataset_create(size, names, field_count, fingerprint, on_get, (void*)handle, release, out);
}

tdm_error* tg_dataset_map(const tdm_dataset* dataset, const char* const* names, size_t field_count, uintptr_t handle,
                          tdm_dataset** out) {
  return tdm_dataset_map(dataset, names, field_count, on_map, (void*)handle, release, out);
}

tdm_error* tg_dataset_from_iterable(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint,
                                    uintptr_t handle, tdm_dataset** out) {
  tdm_iterable iterable = TDM_ITERABLE_INIT;
  iterable.size = size;
  iterable.names = names;
  iterable.field_count = field_count;
  iterable.fingerprint = fingerprint;
  iterable.open = on_open;
  iterable.next = on_next;
  iterable.skip = on_skip;
  iterable.close = on_close;
  iterable.user_data = (void*)handle;
  iterable.destroy = release;
  return tdm_dataset_from_iterable(&iterable, out);
}

tdm_error* tg_sampler_create(const char* name, int64_t positions, int32_t by_epoch, uintptr_t handle,
                             tdm_sampler** out) {
  return tdm_sampler_create(name, positions, by_epoch, on_list, (void*)handle, release, out);
}
