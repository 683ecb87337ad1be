// How many threads OpenMP gives to operators, a setting of each thread that calls them.
#pragma once

namespace tandem {

// Whether LibTorch computes with OpenMP.
bool has_openmp();

// The setting as it is, for parallel regions of this thread's; 0 without OpenMP. LibTorch's at::get_num_threads() would
// change it where LibTorch has not computed yet. Takes a nanosecond.
int openmp_threads();

// For what this thread computes; at::set_num_threads() would also change what threads get that have not computed yet.
void set_openmp_threads(int threads);
// The same, in a nanosecond, where set_openmp_threads() was called on this thread before.
void change_openmp_threads(int threads);

// The same for MKL, which follows OpenMP unless a program called at::set_num_threads().
void set_mkl_threads(int threads);

}  // namespace tandem
