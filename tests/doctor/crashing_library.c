/* A part of LibTorch that ends the process which loads it. */
#include <signal.h>

__attribute__((constructor)) static void crash(void) {
  raise(SIGSEGV);
}
