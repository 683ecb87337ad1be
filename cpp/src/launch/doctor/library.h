// libtandem, opened at run time as a front end opens it: the tool itself links neither it nor LibTorch.
#pragma once

#include <string>

#include "tandem/tandem.h"

namespace tandem::doctor {

struct FoundLibrary {
  std::string path;
  std::string because;  // "TANDEM_LIBRARY names it"
};
// Where libtandem is: `given`, else the file or folder that TANDEM_LIBRARY names, as for Go and Java, else beside the
// tool's folder, as installed, else the system's, by its name. Throws launch::Failure for a TANDEM_LIBRARY that names
// none.
FoundLibrary find_library(const std::string& given);

// What the doctor calls.
struct Library {
  // Throws launch::Failure where it cannot be opened, or lacks a function.
  explicit Library(const std::string& path);

  std::string path;  // of the file that was opened
  decltype(&tdm_version) version = nullptr;
  decltype(&tdm_libtorch_version) libtorch_version = nullptr;
  decltype(&tdm_load) load = nullptr;
  decltype(&tdm_shutdown) shutdown = nullptr;
  decltype(&tdm_error_message) error_message = nullptr;
  decltype(&tdm_error_free) error_free = nullptr;
  decltype(&tdm_cuda_device_count) cuda_device_count = nullptr;
  decltype(&tdm_store_hash) store_hash = nullptr;
  decltype(&tdm_store_free) store_free = nullptr;
  decltype(&tdm_process_group_create) group_create = nullptr;
  decltype(&tdm_process_group_free) group_free = nullptr;
  decltype(&tdm_process_group_rank) group_rank = nullptr;
  decltype(&tdm_process_group_size) group_size = nullptr;
  decltype(&tdm_all_reduce) all_reduce = nullptr;
  decltype(&tdm_tensor_from_data) tensor_from_data = nullptr;
  decltype(&tdm_tensor_copy_to) tensor_copy_to = nullptr;
  decltype(&tdm_tensor_copy_from) tensor_copy_from = nullptr;
  decltype(&tdm_tensor_free) tensor_free = nullptr;

  // Throws launch::Failure with the error's message, and frees it; nothing for NULL.
  void check(tdm_error* error) const;
};

}  // namespace tandem::doctor
