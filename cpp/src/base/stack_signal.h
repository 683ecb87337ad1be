// The signal by which an agent (`tandem run`) asks a thread of a worker for its stack.
#pragma once

#include <signal.h>

namespace tandem {

// glibc takes 32 and 33 for itself, musl and .NET 34, Valgrind 64; Go, the JVM, Ruby and CUDA use signals below 32.
inline int stack_signal() { return SIGRTMIN + 13; }

}  // namespace tandem
