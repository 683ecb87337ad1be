// How many threads OpenMP gives to operators, a setting of each thread that calls them.
#pragma once

namespace tandem {

// Of the OpenMP that LibTorch computes with; NULL without.
struct OpenMP {
  int (*get_max_threads)();
  void (*set_num_threads)(int);
};
extern const OpenMP openmp __attribute__((visibility("hidden")));

// Whether LibTorch computes with OpenMP.
inline bool has_openmp() {
  return openmp.get_max_threads && openmp.set_num_threads;
}

// The setting as it is, for parallel regions of this thread's; 0 without OpenMP. LibTorch's at::get_num_threads() would
// change it where LibTorch has not computed yet. Takes two nanoseconds.
inline int openmp_threads() {
  return has_openmp() ? openmp.get_max_threads() : 0;
}

// For what this thread computes; at::set_num_threads() would also change what threads get that have not computed yet.
void set_openmp_threads(int threads);
// The same, in two nanoseconds, where set_openmp_threads() was called on this thread before.
inline void change_openmp_threads(int threads) {
  if (has_openmp()) openmp.set_num_threads(threads);
}

// The same for MKL, which follows OpenMP unless a program called at::set_num_threads().
void set_mkl_threads(int threads);

}  // namespace tandem
