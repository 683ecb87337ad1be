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

// Folder of libtandem.so itself, absolute. Throws tandem::Error (kLibrary) when that cannot be told.
const std::string& own_folder();

// Whether the process has rights that the user who started it does not have (setuid, setgid, capabilities). What that
// user sets does not decide then which code it runs.
bool has_more_rights();

// "" where it is not set, and in a process with more rights.
std::string environment(const char* name);

// `wanted` (may be empty) is the caller's choice or TANDEM_LIBTORCH, an absolute path; otherwise the copy that the
// process has loaded, the one that libtandem.libtorch names, one in the folder of libtandem.so or in libtorch/ there,
// the system's. Throws tandem::Error (kLibrary): a relative path, nothing found, another copy than the wanted one is
// loaded, or two are.
LibTorch find_libtorch(const std::string& wanted, const std::string& wanted_by);

}  // namespace tandem::loader
