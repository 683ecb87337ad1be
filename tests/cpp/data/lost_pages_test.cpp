// Files that are cut off while they are mapped, in processes of their own where those may end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "cpp/data/expect_error.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace tandem {
namespace {

using test::Records;
using test::TempDir;
using test::text_of;
using test::write_records;

constexpr std::int64_t kCount = 4000;
constexpr std::uint64_t kHalf = 200 << 10;  // a multiple of a page, in the middle of the files below

Records numbered() {
  Records records;
  for (std::int64_t i = 0; i < kCount; ++i) records.push_back(std::to_string(i) + std::string(100, 'x'));
  return records;
}

RecordIOWriterOptions plain(int version, std::uint64_t chunk_bytes) {
  RecordIOWriterOptions options;
  options.version = version;
  options.chunk_bytes = chunk_bytes;
  options.alignment = 1;
  return options;
}

void cut(const std::string& path, std::uint64_t size) {
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(size)), 0);
}

// How many of a source's records are whole and right; all others must be refused as gone.
std::int64_t read_what_is_there(const Records& records, const std::function<std::string(std::int64_t)>& read) {
  std::int64_t whole = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    try {
      const std::string first = read(i);
      // What was cut off while it was looked at is found the second time.
      if (first != records[static_cast<std::size_t>(i)]) {
        EXPECT_EQ(first.find_first_not_of('\0', first.find('\0')), std::string::npos) << i;
        EXPECT_ERROR(read(i), ErrorCode::kDataLoss, "cut off");
        continue;
      }
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("cut off while it was read")) << i;
    }
  }
  return whole;
}

TEST(LostPages, WhatIsStillThereIsReadAndWhatIsGoneIsAnError) {
  const TempDir dir;
  const Records records = numbered();
  for (const int version : {1, 2}) {
    for (const bool seen : {false, true}) {  // chunks that were verified before, and others
      const std::string path = dir / "file";
      write_records(path, records, plain(version, 16 << 10));
      ASSERT_GT(std::filesystem::file_size(path), 2 * kHalf);
      RecordIOReader reader(path);
      for (std::int64_t i = 0; seen && i < kCount; ++i) reader[i];
      cut(path, kHalf);
      const std::int64_t whole = read_what_is_there(records, [&](std::int64_t i) { return text_of(reader[i]); });
      EXPECT_GT(whole, kCount / 4);
      EXPECT_LT(whole, kCount * 3 / 4);
      // Nothing else is touched.
      write_records(dir / "other", records, plain(version, 16 << 10));
      RecordIOReader other(dir / "other");
      EXPECT_EQ(read_what_is_there(records, [&](std::int64_t i) { return text_of(other[i]); }), kCount);
    }
  }
}

TEST(LostPages, FormatsWithoutChecksumsAreNoDifferent) {
  const TempDir dir;
  const Records records = numbered();
  std::string text;
  for (const std::string& record : records) text += record + "\n";
  const std::string path = dir / "lines.txt";
  test::write_file(path, {text.begin(), text.end()});
  const auto source = open_records({path}, {.format = RecordFormat::kLines});
  cut(path, kHalf);
  const std::int64_t whole =
      read_what_is_there(records, [&](std::int64_t i) { return text_of(source->read(i).bytes); });
  EXPECT_GT(whole, kCount / 4);
  EXPECT_LT(whole, kCount * 3 / 4);
}

TEST(LostPages, ThreadsThatReadAtOnceAllFindOut) {
  const TempDir dir;
  const Records records = numbered();
  for (int round = 0; round < 20; ++round) {
    const std::string path = dir / std::to_string(round);
    write_records(path, records, plain(2, 16 << 10));
    RecordIOReader reader(path);
    std::atomic<std::int64_t> whole{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back(
          [&] { whole += read_what_is_there(records, [&](std::int64_t i) { return text_of(reader[i]); }); });
    }
    cut(path, kHalf);
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(whole, kCount);  // four times a quarter
  }
}

TEST(LostPages, ManyMappingsComeAndGo) {
  const TempDir dir;
  const Records records = numbered();
  for (int i = 0; i < 200; ++i) {
    write_records(dir / "file", records, plain(2, 64 << 10));
    RecordIOReader reader(dir / "file"), same(dir / "file");
    cut(dir / "file", i % 2 ? 0 : kHalf);
    EXPECT_ERROR(reader[kCount - 1], ErrorCode::kDataLoss, "cut off");
    EXPECT_ERROR(same[kCount - 1], ErrorCode::kDataLoss, "cut off");
  }
}

// A mapping of the program's own, whose file is empty.
volatile const char* mapping_without_file(const TempDir& dir) {
  const int fd = ::open((dir / "own").c_str(), O_RDWR | O_CREAT, 0600);
  return static_cast<const char*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
}

void read_a_file(const TempDir& dir) {
  write_records(dir / "file", numbered(), plain(2, 64 << 10));
  RecordIOReader reader(dir / "file");
  cut(dir / "file", 0);
  EXPECT_ERROR(reader[0], ErrorCode::kDataLoss, "cut off");
}

// Each in a process of its own, started anew: the handler is installed once.
class LostPagesDeathTest : public testing::Test {
 protected:
  LostPagesDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  const TempDir dir_;
};

TEST_F(LostPagesDeathTest, FaultsElsewhereEndTheProcessAsEver) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has a handler of its own, which ends the process otherwise";
#endif
  EXPECT_EXIT(
      {
        read_a_file(dir_);
        static_cast<void>(mapping_without_file(dir_)[0]);
        std::_Exit(1);
      },
      testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        read_a_file(dir_);
        ::raise(SIGBUS);
        std::_Exit(1);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(LostPagesDeathTest, FaultsElsewhereReachTheHandlerThatWasThereBefore) {
  EXPECT_EXIT(
      {
        struct sigaction own {};
        own.sa_flags = SA_SIGINFO;
        own.sa_sigaction = [](int, siginfo_t* info, void* context) {
          std::_Exit(info->si_code == BUS_ADRERR && context ? 42 : 43);
        };
        ::sigaction(SIGBUS, &own, nullptr);
        read_a_file(dir_);
        std::thread([this] { static_cast<void>(mapping_without_file(dir_)[0]); }).join();
        std::_Exit(1);
      },
      testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, [](int) { std::_Exit(44); });
        read_a_file(dir_);
        ::raise(SIGBUS);
        std::_Exit(1);
      },
      testing::ExitedWithCode(44), "");
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_IGN);
        read_a_file(dir_);
        ::raise(SIGBUS);  // ignored as before
        std::_Exit(45);
      },
      testing::ExitedWithCode(45), "");
}

}  // namespace
}  // namespace tandem
