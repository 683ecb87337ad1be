#include "checkpoint/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "base/descriptor.h"
#include "checkpoint/manifest.h"
#include "tandem/error.h"

namespace tandem::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kUnfinished = ".tmp";
constexpr std::string_view kAside = ".replaced";  // while another takes its name
constexpr std::size_t kDigits = 9;  // so that names sort as numbers do, for a long time
constexpr std::string_view kLatest = "latest";

[[noreturn]] void fail(const std::string& what, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR;
  throw Error(missing ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot " + what + ": " + std::strerror(number));
}

void remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove " + path, error.value());
}

// So that what was made or renamed in it stays so.
void sync_folder(const std::string& path) {
  const Descriptor folder = open_file(path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!folder.valid()) fail("open " + path, errno);
  // Some file systems cannot sync a folder, and say so.
  if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP) fail("sync " + path, errno);
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) fail("make the folder " + path, errno);
}

bool is_there(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

// The names in a folder, up to where reading it fails.
std::vector<std::string> names_in(const std::string& path, std::error_code& error) {
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  return names;
}

}  // namespace

std::string step_name(std::int64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return std::string(kPrefix) + digits;
}

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return {};
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  // The other way too: no other spelling of the number.
  if (error != std::errc() || end != name.data() + name.size() || step < 0 || step_name(step) != name) return {};
  return step;
}

std::string Folder::path_of(std::int64_t step) const {
  return path_ + "/" + step_name(step);
}

std::string Folder::unfinished(std::int64_t step) const {
  return path_of(step) + std::string(kUnfinished);
}

void Folder::begin(std::int64_t step) const {
  if (!is_there(path_)) {
    make_folder(path_);
    const std::string above = fs::path(path_).parent_path();
    sync_folder(above.empty() ? "." : above);
  }
  recover();
  std::error_code error;
  std::vector<std::string> left;
  for (const std::string& name : names_in(path_, error)) {
    const bool is_latest = target_of_temporary(name) == kLatest;
    if (!is_latest && !name.ends_with(kUnfinished)) continue;
    if (is_latest || step_of(std::string_view(name).substr(0, name.size() - kUnfinished.size()))) {
      left.push_back(path_ + "/" + name);
    }
  }
  if (error) fail("read " + path_, error.value());
  for (const std::string& path : left) remove_folder(path);
  make_folder(unfinished(step));
}

void Folder::publish(std::int64_t step) const {
  const std::string from = unfinished(step), to = path_of(step);
  sync_folder(from);
  // In one step also where there is one already: at no time is there none.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    // What `from` is now the next save removes, if this one cannot.
  } else {
    // There is none of the name, or the file system cannot exchange: recover() knows the name that it has meanwhile.
    const std::string aside = to + std::string(kAside);
    const bool replaces = is_there(to);
    if (replaces && ::rename(to.c_str(), aside.c_str()) != 0) fail("rename " + to, errno);
    if (::rename(from.c_str(), to.c_str()) != 0) {
      const int number = errno;
      if (replaces) static_cast<void>(::rename(aside.c_str(), to.c_str()));
      fail("rename " + from, number);
    }
  }
  sync_folder(path_);
  const std::string name = step_name(step) + "\n";
  AtomicFile latest(path_ + "/" + std::string(kLatest));
  latest.append(name.data(), name.size());
  latest.commit();
  discard(step);
  std::error_code later;
  fs::remove_all(to + std::string(kAside), later);
}

void Folder::recover() const {
  std::vector<std::string> moved;
  std::error_code unread;  // who needs the names says so
  for (const std::string& name : names_in(path_, unread)) {
    if (!name.ends_with(kAside)) continue;
    const std::string plain = name.substr(0, name.size() - kAside.size());
    if (step_of(plain)) moved.push_back(plain);
  }
  for (const std::string& name : moved) {
    const std::string to = path_ + "/" + name, aside = to + std::string(kAside);
    if (is_there(to)) {
      remove_folder(aside);
    } else if (::rename(aside.c_str(), to.c_str()) != 0) {
      fail("rename " + aside, errno);
    }
  }
}

void Folder::discard(std::int64_t step) const noexcept {
  try {
    remove_folder(unfinished(step));
  } catch (...) {  // the next save tries again
  }
}

void Folder::prune(std::size_t keep) const {
  const auto last = latest();
  if (keep == 0 || !last) return;
  auto old = steps();
  // Those that nobody can read are not among the ones that stay to be read.
  std::erase_if(old, [&](std::int64_t step) {
    std::error_code untold;
    return step > *last || !fs::exists(path_of(step) + "/" + kManifest, untold);
  });
  if (old.size() <= keep) return;
  old.resize(old.size() - keep);
  for (const std::int64_t step : old) {
    // What is removed only in part is no checkpoint any more.
    const std::string name = unfinished(step);
    if (::rename(path_of(step).c_str(), name.c_str()) != 0) fail("rename " + path_of(step), errno);
    remove_folder(name);
  }
}

std::vector<std::int64_t> Folder::steps() const {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const std::string& name : names_in(path_, error)) {
    const auto step = step_of(name);
    if (!step) continue;
    // One of which that cannot be told is not passed over without a word: reading it says why.
    std::error_code untold;
    if (fs::exists(path_of(*step) + "/" + kManifest, untold) || untold) steps.push_back(*step);
  }
  if (error && error != std::errc::no_such_file_or_directory) fail("read " + path_, error.value());
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<std::int64_t> Folder::latest() const {
  std::string name;
  try {
    name = read_text(path_ + "/" + std::string(kLatest), 64);
  } catch (const Error&) {
    return {};
  }
  if (name.ends_with('\n')) name.pop_back();
  return step_of(name);
}

std::string read_text(const std::string& path, std::size_t most) {
  const Descriptor file = open_file(path.c_str(), O_RDONLY);
  if (!file.valid()) fail("open " + path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) fail("read " + path, errno);
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::kIo, path + " is no regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most) {
    throw Error(ErrorCode::kDataLoss, path + " has " + std::to_string(size) + " bytes, more than the " +
                                          std::to_string(most) + " it may have");
  }
  std::string text(size, '\0');
  if (read_all_at(file.get(), text.data(), size, 0) < size) {
    if (errno != ENODATA) fail("read " + path, errno);
    throw Error(ErrorCode::kDataLoss, path + " was cut off while it was read");
  }
  return text;
}

}  // namespace tandem::checkpoint
