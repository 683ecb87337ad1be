// What the process keeps resident: not what only starting needed, but what it will allocate again.
#pragma once

#include "tandem/export.h"

namespace tandem {

// Lets go of the pages of shared libraries that nobody modified: starting touches relocation tables, symbol names and
// the code that registers operators, about 65 MB of LibTorch's, and hardly uses them again. What is used again the system maps
// from its cache, in microseconds. A mapping of which any page was modified, by a debugger's breakpoint for example,
// stays as it is. Takes 2 ms. Thread-safe.
TANDEM_API void drop_startup_pages();

// As drop_startup_pages(), at the first call only. Called when the first collective is done: by then a worker has met
// its peers and connected to them.
TANDEM_API void startup_is_over();

// Has malloc keep what is freed, up to 1 GiB, and serve blocks of up to 32 MiB from what it keeps. A training step frees
// and allocates the same tensors again; glibc by itself gives large blocks back to the system, which then clears every
// page anew at each step. Does nothing when the environment says how malloc is to do it (MALLOC_TRIM_THRESHOLD_,
// MALLOC_MMAP_THRESHOLD_, MALLOC_ARENA_MAX, or the same in GLIBC_TUNABLES). Process-wide.
TANDEM_API void keep_freed_memory();

// Gives LibTorch an allocator of CPU memory that serves up to 1 KiB from lists of free blocks, one set a thread, and
// leaves larger ones to the allocator before: glibc takes a lock and searches for every aligned block. Blocks go back
// to the lists, never to the system. Process-wide; call it once LibTorch is loaded and before other threads use it.
// Does nothing where 512 MiB of addresses cannot be reserved.
TANDEM_API void cache_small_tensors();

}  // namespace tandem
