/* A user's C program against an installed Tandem: adds two tensors. */
#include <stdio.h>
#include <tandem/tandem.h>

static int failed(tdm_error* error) {
  if (!error) return 0;
  fprintf(stderr, "%s: %s\n", tdm_error_operation(error), tdm_error_message(error));
  tdm_error_free(error);
  return 1;
}

int main(void) {
  const float ones[4] = {1, 1, 1, 1}, twos[4] = {2, 2, 2, 2};
  const int64_t sizes[2] = {2, 2};
  const tdm_op* add = NULL;
  tdm_value arguments[2] = {{TDM_VALUE_TENSOR, {NULL}}, {TDM_VALUE_TENSOR, {NULL}}};
  tdm_value sum = {TDM_VALUE_NONE, {NULL}};
  float result[4] = {0, 0, 0, 0};

  if (failed(tdm_tensor_from_data(ones, sizeof ones, TDM_DTYPE_FLOAT32, sizes, 2, &arguments[0].as.tensor)) ||
      failed(tdm_tensor_from_data(twos, sizeof twos, TDM_DTYPE_FLOAT32, sizes, 2, &arguments[1].as.tensor)) ||
      failed(tdm_op_find("aten::add", "Tensor", &add)) || failed(tdm_op_call(add, arguments, 2, &sum, 1)) ||
      failed(tdm_tensor_copy_to(sum.as.tensor, result, sizeof result))) {
    return 1;
  }
  tdm_tensor_free(arguments[0].as.tensor);
  tdm_tensor_free(arguments[1].as.tensor);
  tdm_value_clear(&sum);
  printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
  return failed(tdm_shutdown(10000));
}
