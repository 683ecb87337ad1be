/* Ten asynchronous all-reduces between processes, in C, with nothing but libtandem.
 *
 *   allreduce RANK WORLD_SIZE FILE    each process is told its rank; they meet through a file that all can write
 *   tandem run -n 2 allreduce         or the launcher tells them, through the environment
 */
#include <stdio.h>
#include <stdlib.h>
#include <tandem/tandem.h>

enum { kCollectives = 10, kElements = 1000 };

/* Every function that can fail returns an error, or NULL. */
static void check(tdm_error* error) {
  if (!error) return;
  fprintf(stderr, "allreduce: %s: %s\n", tdm_error_operation(error), tdm_error_message(error));
  tdm_error_free(error);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    fprintf(stderr, "usage: %s [RANK WORLD_SIZE FILE]\n", argv[0]);
    return 1;
  }

  /* Meet the other ranks. */
  tdm_process_group_options options = TDM_PROCESS_GROUP_OPTIONS_INIT;
  options.timeout_ms = 60000;
  tdm_store* store = NULL;
  if (argc == 4) {
    options.rank = atoi(argv[1]);
    options.world_size = atoi(argv[2]);
    check(tdm_store_file(argv[3], options.world_size, &store));
  }
  tdm_process_group* group = NULL;
  check(tdm_process_group_create(&options, store, &group));
  const int rank = tdm_process_group_rank(group);
  const int size = tdm_process_group_size(group);

  /* Start ten collectives; none waits for another. */
  tdm_tensor* tensors[kCollectives];
  tdm_work* works[kCollectives];
  for (int i = 0; i < kCollectives; ++i) {
    float values[kElements];
    for (int j = 0; j < kElements; ++j) values[j] = (float)(i + rank);
    const int64_t sizes[] = {kElements};
    check(tdm_tensor_from_data(values, sizeof values, TDM_DTYPE_FLOAT32, sizes, 1, &tensors[i]));
    check(tdm_all_reduce(group, tensors[i], TDM_REDUCE_OP_SUM, &works[i]));
  }

  /* Wait for each: its tensor then holds the sum over all ranks. */
  for (int i = 0; i < kCollectives; ++i) {
    check(tdm_work_wait(works[i], -1));
    float values[kElements];
    check(tdm_tensor_copy_to(tensors[i], values, sizeof values));
    printf("rank %d of %d: sum %d is %g\n", rank, size, i, values[kElements - 1]);
    tdm_work_free(works[i]);
    tdm_tensor_free(tensors[i]);
  }

  tdm_process_group_free(group);
  tdm_store_free(store);
  check(tdm_shutdown(10000));
  return 0;
}
