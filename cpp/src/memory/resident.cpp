#include "tandem/resident.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/descriptor.h"
#include "memory/fork_locks.h"

namespace tandem {
namespace {

constexpr std::uint64_t kInMemory = std::uint64_t{3} << 62;  // in /proc/self/pagemap: present, or swapped out
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;    // as the file has it

// "/usr/lib/libfoo.so", "/usr/lib/libfoo.so.1.2"; the program itself has no name here, and is left alone.
bool is_shared_library(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return false;
  const auto suffix = path.find(".so", slash);
  return suffix != path.npos && (suffix + 3 == path.size() || path[suffix + 3] == '.');
}

// Whether the loader writes into the library's code, as it does when it relocates code that was not made for a library.
bool has_text_relocations(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL))) return true;
    }
  }
  return false;
}

// Whole pages of one part of a library.
struct Pages {
  std::uintptr_t begin;
  std::uintptr_t end;
};

class Dropper {
 public:
  explicit Dropper(int pagemap) : pagemap_(pagemap), page_(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE))) {}

  void drop(const dl_phdr_info& library) const {
    for (int i = 0; i < library.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = library.dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_W)) continue;
      const std::uintptr_t begin = library.dlpi_addr + part.p_vaddr;
      // What the file has; a page that two parts share may be the other's.
      const Pages pages{(begin + page_ - 1) / page_ * page_, (begin + part.p_filesz) / page_ * page_};
      if (pages.begin < pages.end && is_unmodified(pages)) {
        madvise(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, MADV_DONTNEED);
      }
    }
  }

 private:
  bool is_unmodified(Pages pages) const {
    std::array<std::uint64_t, 4096> entries;
    while (pages.begin < pages.end) {
      const std::size_t count = std::min<std::size_t>((pages.end - pages.begin) / page_, entries.size());
      const std::size_t bytes = count * sizeof entries[0];
      const auto at = static_cast<off_t>(pages.begin / page_ * sizeof entries[0]);
      if (read_all_at(pagemap_, entries.data(), bytes, at) != bytes) return false;
      const auto modified = [](std::uint64_t entry) { return (entry & kInMemory) && !(entry & kOfFile); };
      if (std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count), modified)) return false;
      pages.begin += count * page_;
    }
    return true;
  }

  const int pagemap_;
  const std::uintptr_t page_;
};

int drop_library(dl_phdr_info* library, std::size_t, void* dropper) {
  if (is_shared_library(library->dlpi_name) && !has_text_relocations(*library)) {
    static_cast<const Dropper*>(dropper)->drop(*library);
  }
  return 0;
}

}  // namespace

// A list of mappings, as in /proc/self/smaps, is old when it is read: another thread may have unloaded a library, and
// mapped memory of its own there, or be loading one, of which the list has the file's pages where its variables are by
// now. Here the loader holds its lock meanwhile: libraries that it names are mapped, completely, and stay; and it never
// writes into the parts that are dropped.
void drop_startup_pages() {
  static constinit std::mutex mutex;
  static std::once_flag once;
  std::call_once(once, [] { hold_in_fork(ForkLock::startup_pages, mutex); });
  // A child that was forked meanwhile would find the loader's lock taken.
  const std::lock_guard<std::mutex> lock(mutex);
  const Descriptor pagemap = open_file("/proc/self/pagemap", O_RDONLY);
  if (!pagemap.valid()) return;
  Dropper dropper(pagemap.get());
  dl_iterate_phdr(drop_library, &dropper);
}

void startup_is_over() {
  static std::once_flag once;
  std::call_once(once, drop_startup_pages);
}

void first_iterations_are_over() {
  static std::once_flag once;
  std::call_once(once, drop_startup_pages);
}

}  // namespace tandem
