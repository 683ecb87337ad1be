// A folder of a test's own, in which it works, and which goes with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace misuse {

class Folder {
 public:
  Folder() : before_(std::filesystem::current_path()) {
    std::string path = (std::filesystem::temp_directory_path() / "tandem-misuse-XXXXXX").string();
    if (!mkdtemp(path.data())) throw std::runtime_error("cannot make a folder like " + path);
    path_ = path;
    std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::filesystem::path before_, path_;
};

}  // namespace misuse
