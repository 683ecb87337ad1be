// Memory that only starting needed.
#pragma once

#include "tandem/export.h"

namespace tandem {

// Lets go of the pages of LibTorch's libraries that nobody modified: starting touches relocation tables, symbol names
// and the code that registers operators, about 65 MB, and hardly uses them again. What is used again the system maps
// from its cache, in microseconds. A mapping of which any page was modified, by a debugger's breakpoint for example,
// stays as it is. Takes 2 ms. Thread-safe.
TANDEM_API void drop_startup_pages();

// As drop_startup_pages(), at the first call only. Called when the first collective is done: by then a worker has met
// its peers and connected to them.
TANDEM_API void startup_is_over();

}  // namespace tandem
