// Memory that only loading needed.
#pragma once

#include <string>

namespace tandem::loader {

// Lets go of the pages of the libraries whose paths begin with `prefix` that loading touched: relocation tables, symbol
// names, the code that registers operators. They are unmodified pages of files, so the system reads (from its cache)
// those that are used again; the process is smaller by about 65 MB. A mapping of which any page was modified, by a
// debugger's breakpoint for example, stays as it is.
void drop_loading_pages(const std::string& prefix);

}  // namespace tandem::loader
