// What the process keeps resident: not what only starting needed, but what it will allocate again.
#pragma once

#include "tandem/export.h"

namespace tandem {

// Releases the pages of shared libraries that nobody modified: starting touches relocation tables, symbol names and
// the code that registers operators, about 65 MB of LibTorch's, and hardly uses them again. What is used again the
// system maps from its cache, in microseconds. A part of a library of which any page was modified, by a debugger's
// breakpoint for example, stays as it is. Other threads may load and unload libraries meanwhile; they wait for it.
// Takes 2 ms. Thread-safe.
TANDEM_API void drop_startup_pages();

// As drop_startup_pages(), at the first call only. Called when the first collective is done: by then a worker has met
// its peers and connected to them.
TANDEM_API void startup_is_over();

// As drop_startup_pages(), at the first call only. Called when DistributedDataParallel begins its third iteration: what
// reads files, makes modules, connects ranks and plans buckets has run by then, and a step's code is soon mapped again.
TANDEM_API void first_iterations_are_over();

// Has malloc keep what is freed, up to 1 GiB, and serve blocks of up to 32 MiB from what it keeps. A training step frees
// and allocates the same tensors again; glibc by itself gives large blocks back to the system, which then clears every
// page anew at each step. Does nothing when the environment says how malloc is to do it (MALLOC_TRIM_THRESHOLD_,
// MALLOC_MMAP_THRESHOLD_, MALLOC_ARENA_MAX, or the same in GLIBC_TUNABLES). Process-wide.
TANDEM_API void keep_freed_memory();

// Gives LibTorch an allocator of CPU memory that serves tensors of up to 1 KiB from lists of free blocks, one set a
// thread, and larger ones from lists of blocks of a hundred sizes, so that a step gets the memory that the step before
// it freed, in huge pages where the system has them. glibc takes a lock and searches for every aligned block, and its
// heap grows with each step that leaves a small object between large ones. Blocks lie up to an eighth larger than asked.
// Huge pages of which nothing is in use are kept as long as they and what is in use are no more than the most that was
// lately in use, and 64 MiB, or up to half of that most where the program was seen to want them again.
//
// LibTorch may have computed before: memory that another allocator made, LibTorch's own or the program's, is given back
// to that one, also through the raw interface. The other way round nothing can be done for a library that keeps an older
// allocator's deleter and frees newer memory with it. Forks wait until no thread is inside the allocator, so that
// children can use it. Memory that is freed twice ends the process with a message.
// Process-wide; call it once LibTorch is loaded and before other threads use it.
TANDEM_API void cache_tensors();

// Gives the system back what cache_tensors() keeps of freed tensors for others of their sizes, as
// torch.cuda.empty_cache() does on a GPU: what only making a model, or evaluating it once, needed. Huge pages of which
// anything is in use stay. DistributedDataParallel does it when it has been made. Thread-safe.
TANDEM_API void empty_tensor_cache();

}  // namespace tandem
