// Which LibTorch this process is to use.
#pragma once

#include <string>

namespace tandem::loader {

struct LibTorch {
  std::string root;     // holds lib/libtorch_cpu.so, or is the folder of the libraries itself
  std::string library;  // libtorch_cpu.so, resolved
  std::string version;  // "2.11.0"; "" when the folder does not say
  bool was_loaded;      // by the process, before Tandem, which has to take it as it is
};

// Folder of libtandem.so itself.
std::string own_folder();

// `wanted` (may be empty) is the caller's choice or TANDEM_LIBTORCH; otherwise the copy that the process has loaded,
// the one named or placed beside libtandem, the system's. Throws tandem::Error (kLibrary): nothing found, another copy
// than the wanted one is loaded, or two are.
LibTorch find_libtorch(const std::string& wanted, const std::string& wanted_by);

}  // namespace tandem::loader
