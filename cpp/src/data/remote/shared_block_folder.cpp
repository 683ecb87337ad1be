#include "data/remote/shared_block_folder.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

namespace tandem::remote {
namespace {

struct Folders {
  std::mutex mutex;
  std::map<std::pair<std::string, std::uint64_t>, std::weak_ptr<BlockFolder>> by_place;
};

std::string one_spelling(const std::string& folder) {
  namespace fs = std::filesystem;
  if (folder.empty()) return folder;
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  if (error) return folder;
  const fs::path path = fs::weakly_canonical(absolute, error);
  if (error) return absolute.string();
  return path.has_filename() ? path.string() : path.parent_path().string();  // "folder/" before it is there
}

}  // namespace

std::shared_ptr<BlockFolder> shared_block_folder(const std::string& folder, std::uint64_t limit_bytes) {
  static auto& folders = *new Folders;  // stays: threads may open files when the process ends
  const std::string path = one_spelling(folder);
  const std::lock_guard lock(folders.mutex);
  std::erase_if(folders.by_place, [](const auto& place) { return place.second.expired(); });
  auto& known = folders.by_place[{path, limit_bytes}];
  auto found = known.lock();
  if (!found) known = found = std::make_shared<BlockFolder>(path, limit_bytes);
  return found;
}

}  // namespace tandem::remote
