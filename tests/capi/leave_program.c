/* leave_program MODE: a program that ends while its threads are inside Tandem. It says "bye" without flushing and
 * returns 7 from main.
 *
 *   compute    threads multiply matrices; main just returns
 *   shutdown   the same, and main calls tdm_shutdown() before
 *   backward   threads run forward and backward passes
 *   stuck      a call that never ends; tdm_shutdown() says so, and main returns
 *   fork       a forked child exits while the parent's threads compute
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tandem/tandem.h"

enum { kThreads = 4, kSize = 256 };

static atomic_int begun;
static const char* mode;

static void must(tdm_error* error) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", tdm_error_operation(error), tdm_error_message(error));
  exit(2);
}

static tdm_tensor* matrix(void) {
  static float zeros[kSize * kSize];
  const int64_t sizes[] = {kSize, kSize};
  tdm_tensor* tensor = NULL;
  must(tdm_tensor_from_data(zeros, sizeof zeros, TDM_DTYPE_FLOAT32, sizes, 2, &tensor));
  return tensor;
}

/* Until Tandem is closed; any other error is a failure. */
static int goes_on(tdm_error* error) {
  if (!error) return 1;
  if (tdm_error_get_code(error) != TDM_ERROR_CLOSED) must(error);
  tdm_error_free(error);
  return 0;
}

static void* work(void* unused) {
  const tdm_op *mm = NULL, *sum = NULL;
  must(tdm_op_find("aten::mm", "", &mm));
  must(tdm_op_find("aten::sum", "", &sum));
  tdm_value arguments[2];
  memset(arguments, 0, sizeof arguments);
  arguments[0].tag = arguments[1].tag = TDM_VALUE_TENSOR;
  arguments[0].as.tensor = arguments[1].as.tensor = matrix();
  if (strcmp(mode, "backward") == 0) must(tdm_tensor_set_requires_grad(arguments[0].as.tensor, 1));
  for (int first = 1;; first = 0) {
    tdm_scope* scope = NULL;
    if (!goes_on(tdm_scope_enter(&scope))) break;
    tdm_value product, total;
    if (!goes_on(tdm_op_call(mm, arguments, 2, &product, 1))) break;
    if (strcmp(mode, "backward") == 0) {
      if (!goes_on(tdm_op_call(sum, &product, 1, &total, 1))) break;
      if (!goes_on(tdm_autograd_backward(&total.as.tensor, NULL, 1, 0, 0))) break;
    }
    tdm_scope_exit(scope);
    if (first) ++begun;
  }
  /* What a program does with a closed library: it waits for the end. */
  for (;;) pause();
  return unused;
}

static void never(void* unused) {
  (void)unused;
  ++begun;
  for (;;) pause();
}

static void* stick(void* unused) {
  static float number;
  tdm_tensor* tensor = NULL;
  must(tdm_tensor_from_blob(&number, sizeof number, TDM_DTYPE_FLOAT32, NULL, 0, never, NULL, &tensor));
  tdm_tensor_free(tensor);
  return unused;
}

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "compute";
  const int stuck = strcmp(mode, "stuck") == 0;
  const int threads = stuck ? 1 : kThreads;
  must(tdm_load(NULL));
  must(tdm_set_num_threads(1));
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, stuck ? stick : work, NULL) != 0) return 3;
  }
  while (begun < threads) usleep(1000);
  if (strcmp(mode, "shutdown") == 0) must(tdm_shutdown(20000));
  if (stuck) {
    tdm_error* error = tdm_shutdown(50);
    printf("%d %s\n", error ? tdm_error_get_code(error) : 0, tdm_error_message(error));
    tdm_error_free(error);
  }
  if (strcmp(mode, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) exit(5);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5) return 4;
  }
  printf("bye");
  return 7;
}
