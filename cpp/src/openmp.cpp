#include "openmp.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace tandem {
namespace {

// Of the libraries that LibTorch itself uses; the process may hold others.
void* find(const char* name) {
  static void* const library = [] {
    Dl_info libtorch{};
    return dladdr(reinterpret_cast<void*>(&at::get_num_threads), &libtorch) != 0
               ? dlopen(libtorch.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : nullptr;
  }();
  return library ? dlsym(library, name) : nullptr;
}

using SetMKL = int (*)(int);

}  // namespace

const OpenMP openmp = {reinterpret_cast<int (*)()>(find("omp_get_max_threads")),
                       reinterpret_cast<void (*)(int)>(find("omp_set_num_threads"))};

void set_openmp_threads(int threads) {
  if (!has_openmp()) return;
  at::get_num_threads();  // LibTorch's own set-up of a thread, which would otherwise come later and undo this
  openmp.set_num_threads(threads);
}

void set_mkl_threads(int threads) {
  static const auto setter = reinterpret_cast<SetMKL>(find("MKL_Set_Num_Threads_Local"));
  if (setter) setter(threads);
}

}  // namespace tandem
