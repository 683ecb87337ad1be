/* The MPI peer of `allreduce`: how long an all-reduce of float32 takes, by size.
 *
 *     mpirun -n 2 bench-allreduce-mpi SECONDS BYTES...
 *
 * Each size is timed for SECONDS; 0: only its result is computed. Writes rank-N.json into the folder BENCH_OUT. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void all_reduce(float* data, int count) {
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static double loop(float* data, int count, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) all_reduce(data, count);
  return (MPI_Wtime() - start) / times;
}

/* The mean time of one all-reduce in microseconds. */
static double measure(float* data, int count, double seconds) {
  const int probes = count >= 1 << 20 ? 2 : 20;
  loop(data, count, probes);
  double times = seconds / loop(data, count, probes);
  MPI_Allreduce(MPI_IN_PLACE, &times, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD); /* as many on all ranks */
  return loop(data, count, times < 3 ? 3 : times > 50000 ? 50000 : (int)times) * 1e6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* folder = getenv("BENCH_OUT");
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d.json", folder ? folder : ".", rank);
  FILE* report = fopen(path, "w");
  if (!report || argc < 3) {
    fprintf(stderr, "bench-allreduce-mpi SECONDS BYTES..., with a folder in BENCH_OUT\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
  const double seconds = atof(argv[1]);
  double* microseconds = calloc((size_t)argc, sizeof *microseconds);
  fprintf(report, "{\"values\": {");
  for (int k = 2; k < argc; ++k) {
    const int count = (int)(atol(argv[k]) / 4);
    float* data = malloc((size_t)count * sizeof *data);
    for (int i = 0; i < count; ++i) data[i] = (float)((i % 11 + rank) % 11 + 1); /* exact, as are their sums */
    all_reduce(data, count);
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += data[i];
    fprintf(report, "%s\"%s\": [%.17g, %.17g, %.17g, %.17g]", k > 2 ? ", " : "", argv[k], sum, data[0],
            data[count / 2], data[count - 1]);
    for (int i = 0; i < count; ++i) data[i] = 0;
    if (seconds > 0) microseconds[k] = measure(data, count, seconds);
    free(data);
  }
  fprintf(report, "}, \"us\": {");
  for (int k = 2; k < argc && seconds > 0; ++k) {
    fprintf(report, "%s\"%s\": %.17g", k > 2 ? ", " : "", argv[k], microseconds[k]);
  }
  fprintf(report, "}}\n");
  fclose(report);
  free(microseconds);
  MPI_Finalize();
  return 0;
}
