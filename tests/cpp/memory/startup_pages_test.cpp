// Pages are dropped while other threads load libraries, unload them, and map memory in their place.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "tandem/resident.h"

namespace startup_pages_test {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(2);  // in which pages are dropped
constexpr int kLooks = 10;

class Library {
 public:
  explicit Library(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(dlerror());
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { dlclose(library_); }

  bool is_whole() const { return reinterpret_cast<int (*)()>(dlsym(library_, "is_whole"))() == 1; }
  void* code() const { return dlsym(library_, "is_whole"); }
  void* begin() const {
    Dl_info info{};
    dladdr(code(), &info);
    return info.dli_fbase;
  }

 private:
  void* library_;
};

// Drops pages on a thread of its own while it lives, and says when that was done often enough.
class Dropping {
 public:
  ~Dropping() {
    stop_ = true;
    thread_.join();
  }
  bool goes_on() const { return times_ < 150; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> times_{0};
  std::thread thread_{[this] {
    for (; !stop_; ++times_) tandem::drop_startup_pages();
  }};
};

TEST(StartupPages, ALibraryInThePlaceOfAnotherKeepsWhatTheLoaderWrote) {
  for (const Dropping dropping; dropping.goes_on();) {
    {
      const Library constants(LIBRARY_OF_CONSTANTS);
      ASSERT_TRUE(constants.is_whole());
      std::this_thread::sleep_for(kMoment);
    }
    const Library addresses(LIBRARY_OF_ADDRESSES);
    for (int look = 0; look < kLooks; ++look) {
      ASSERT_TRUE(addresses.is_whole());
      std::this_thread::sleep_for(kMoment / kLooks);
    }
  }
}

TEST(StartupPages, MemoryInThePlaceOfAnUnloadedLibraryStays) {
  constexpr std::size_t kBytes = 1 << 20;
  int tried = 0;
  for (const Dropping dropping; dropping.goes_on();) {
    void* place = nullptr;
    {
      const Library constants(LIBRARY_OF_CONSTANTS);
      place = constants.begin();
      std::this_thread::sleep_for(kMoment);
    }
    void* mapped =
        mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) continue;  // someone else was quicker
    auto* memory = static_cast<unsigned char*>(mapped);
    std::memset(memory, 5, kBytes);
    for (int look = 0; look < kLooks; ++look) {
      ASSERT_TRUE(std::all_of(memory, memory + kBytes, [](unsigned char byte) { return byte == 5; }));
      std::this_thread::sleep_for(kMoment / kLooks);
    }
    munmap(mapped, kBytes);
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

// As a debugger's breakpoint would, a page of a library's constants is modified here.
TEST(StartupPages, ModifiedPagesOfALibraryStay) {
  const Library library(LIBRARY_OF_CONSTANTS);
  auto* code = static_cast<unsigned char*>(library.code());
  constexpr std::uintptr_t kPage = 4096;
  void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(code) / kPage * kPage);
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  const unsigned char before = code[0];
  code[0] = 0xcc;
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
  tandem::drop_startup_pages();
  EXPECT_EQ(code[0], 0xcc);
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  code[0] = before;
  ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_EXEC), 0);
}

}  // namespace
}  // namespace startup_pages_test
