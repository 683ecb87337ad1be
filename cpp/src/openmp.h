// How many threads OpenMP gives to operators, a setting of each thread that calls them.
#pragma once

namespace tandem {

// Whether LibTorch computes with OpenMP.
bool has_openmp();

// For what this thread computes; at::set_num_threads() would also change what threads get that have not computed yet.
void set_openmp_threads(int threads);

// The same for MKL, which follows OpenMP unless a program called at::set_num_threads().
void set_mkl_threads(int threads);

}  // namespace tandem
