// A folder that goes with the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tandem::testing {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tandem-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path / name; }

  std::filesystem::path path;
};

}  // namespace tandem::testing
