// Where a library of this process lies, whatever name it was opened by.
#pragma once

#include <cstdint>
#include <string>

namespace tandem {

// The absolute path of the library that the dynamic linker knows by `name` and that is mapped at `address`, links not
// resolved where the name is absolute. The linker keeps the name that a library was opened by: a relative one means
// another file once the working directory is another. Throws Error (kLibrary) when the path cannot be told.
std::string loaded_file(const std::string& name, std::uintptr_t address);

// Of the library that a function belongs to.
std::string library_of(const void* function);

}  // namespace tandem
