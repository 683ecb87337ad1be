// Reads beside another thread that changes pages.
#include "base/lost_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/mapped_file.h"
#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"

namespace tandem::testing::base_lost_pages_test {
namespace {

TEST(LostPages, AReadWaitsForAnotherThreadsChanges) {
  char path[] = "/tmp/tandem-lost-pages-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  ASSERT_EQ(unlink(path), 0);
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  WatchedMapping* const watched = watch_mapping(memory, bytes);

  // Changes for as long as a hundred reads take, one after the other.
  std::atomic<bool> changes{false};
  std::atomic<int> reads{0};
  std::thread other([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (std::chrono::steady_clock::now() < end || reads < 2) {
      recover_mapping(watched, file);
      changes = true;
    }
  });
  while (!changes) std::this_thread::yield();
  EXPECT_EQ(without_lost_pages([&] {
              ++reads;
              const std::uint64_t before = begun_page_changes();
              while (reads == 1 && begun_page_changes() == before)
                std::this_thread::yield();  // on a busy machine, long
              std::this_thread::sleep_for(std::chrono::milliseconds(2));
              return 7;
            }),
            7);
  EXPECT_GT(reads, 1);
  other.join();
  unwatch_mapping(watched);
  munmap(memory, bytes);
  close(file);
}

// The first looks are at the file's size, later ones at its last byte.
TEST(LostPages, EachReadSeesWhereAFileEndsNow) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (int reads = 0; reads < 12; ++reads) {
    SCOPED_TRACE(reads);
    const test::TempDir dir;
    const std::string path = dir / "file";
    std::ofstream(path) << std::string(4 * page, 'x');
    const MappedFile file(path);
    for (int i = 0; i < reads; ++i) file.require(0, 1);
    std::filesystem::resize_file(path, page + 10);
    file.require(0, page);
    EXPECT_ERROR(file.require(page, 20), ErrorCode::kDataLoss, "are gone");
  }
}

}  // namespace
}  // namespace tandem::testing::base_lost_pages_test
