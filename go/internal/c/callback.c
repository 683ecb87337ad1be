/* The callbacks that the C ABI calls, each of which asks Go. */
#include "_cgo_export.h"

static void release(void* user_data) { tgRelease((uintptr_t)user_data); }

static tdm_error* call_go(void* user_data, tdm_tensor* const* inputs, size_t input_count, tdm_tensor** results,
                          size_t result_count) {
  tg_call call = {tdm_scope_current(), inputs, input_count, results, result_count};
  return tgCallback((uintptr_t)user_data, &call);
}

static tdm_error* on_gradient(void* user_data, tdm_tensor* gradient, tdm_tensor** replacement) {
  return call_go(user_data, &gradient, 1, replacement, 1);
}

static tdm_error* on_tensor(void* user_data, tdm_tensor* tensor) { return call_go(user_data, &tensor, 1, NULL, 0); }

tdm_error* tg_register_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out) {
  return tdm_tensor_register_hook(tensor, on_gradient, (void*)handle, release, out);
}

tdm_error* tg_register_post_accumulate_grad_hook(tdm_tensor* tensor, uintptr_t handle, tdm_hook** out) {
  return tdm_tensor_register_post_accumulate_grad_hook(tensor, on_tensor, (void*)handle, release, out);
}

tdm_error* tg_error(const char* message, uintptr_t handle) {
  return tdm_error_create(TDM_ERROR_CALLBACK, NULL, message, (void*)handle, release);
}

uintptr_t tg_error_cause(const tdm_error* error) { return (uintptr_t)tdm_error_user_data(error, release); }
