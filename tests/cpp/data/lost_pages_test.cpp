// Files that are cut off while they are mapped, in processes of their own where those may end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/atomic_file.h"
#include "base/lost_pages.h"
#include "cpp/data/expect_error.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "data/formats/sinks.h"
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

// A file that is cut off, and then has its bytes again, as if its disk had failed for a while.
class PassingLoss {
 public:
  explicit PassingLoss(const std::string& path) : path_(path), content_(test::read_file(path)) {
    EXPECT_EQ(::stat(path.c_str(), &status_), 0);
  }
  void begin() const { cut(path_, kHalf); }
  void end() const {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    const std::size_t left = content_.size() - kHalf;
    EXPECT_EQ(::pwrite(fd, content_.data() + kHalf, left, kHalf), static_cast<ssize_t>(left));
    const timespec times[] = {status_.st_atim, status_.st_mtim};
    EXPECT_EQ(::futimens(fd, times), 0);
    ::close(fd);
  }

 private:
  const std::string path_;
  const test::FileBytes content_;
  struct stat status_;
};

std::string write_lines(const TempDir& dir, const Records& records) {
  std::string text;
  for (const std::string& record : records) text += record + "\n";
  test::write_file(dir / "lines.txt", {text.begin(), text.end()});
  return dir / "lines.txt";
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

// The copies that are made, which are whole; all others must be refused.
std::int64_t copy_what_is_there(const Records& records, RecordIOReader& reader) {
  std::int64_t whole = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::string& record = records[static_cast<std::size_t>(i)];
    std::string copy(record.size(), '?');
    try {
      reader.copy(i, {reinterpret_cast<std::uint8_t*>(copy.data()), copy.size()});
      EXPECT_EQ(copy, record);
      ++whole;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("cut off while it was read")) << i;
    }
  }
  return whole;
}

TEST(LostPages, ACopyIsWholeOrAnError) {
  const TempDir dir;
  const Records records = numbered();
  for (const int version : {1, 2}) {
    const std::string path = dir / "file";
    // At the end of a page, within pages (among them tables of records), and within the file's last page.
    for (int i = 0; i < 12; ++i) {
      write_records(path, records, plain(version, 16 << 10));
      const std::uint64_t size = std::filesystem::file_size(path);
      RecordIOReader reader(path);
      for (std::int64_t r = 0; r < kCount; ++r) reader[r];  // verified before they are lost
      const bool in_last_page = i == 11;
      cut(path, in_last_page ? size - (version == 1 ? 50 : 1500) : kHalf + static_cast<std::uint64_t>(i) * 1489);
      const std::int64_t whole = copy_what_is_there(records, reader);
      if (in_last_page) {
        EXPECT_LT(whole, version == 1 ? kCount : kCount + 1);  // in version 2 it is the footer that is gone
        EXPECT_GT(whole, kCount - 40);
      } else {
        EXPECT_GT(whole, kCount / 4);
        EXPECT_LT(whole, kCount * 3 / 4);
      }
      std::uint8_t small[3];
      EXPECT_ERROR(reader.copy(0, small), ErrorCode::kInvalidArgument, "has 101 bytes, but the destination has 3");
    }
  }
}

TEST(LostPages, AViewThatIsAskedForAfterwardsIsWholeOrAnError) {
  const TempDir dir;
  const Records records = numbered();
  for (const int version : {1, 2}) {
    write_records(dir / "file", records, plain(version, 16 << 10));
    RecordIOReader reader(dir / "file");
    for (std::int64_t i = 0; i < kCount; ++i) reader[i];
    cut(dir / "file", kHalf + 1000);
    for (std::int64_t i = 0; i < kCount; ++i) {
      try {
        EXPECT_EQ(text_of(reader[i]), records[static_cast<std::size_t>(i)]);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << error.what();
      }
    }
  }
}

TEST(LostPages, FormatsWithoutChecksumsAreNoDifferent) {
  const TempDir dir;
  const Records records = numbered();
  const std::string path = write_lines(dir, records);
  const auto source = open_records({path}, {.format = RecordFormat::kLines});
  cut(path, kHalf);
  const std::int64_t whole =
      read_what_is_there(records, [&](std::int64_t i) { return text_of(source->read(i).bytes); });
  EXPECT_GT(whole, kCount / 4);
  EXPECT_LT(whole, kCount * 3 / 4);
}

// What is left of the page in which the file ends now reads as zeros, without a fault.
TEST(LostPages, TheRestOfTheLastPageIsGoneAsWell) {
  const TempDir dir;
  const Records records = numbered();
  const std::string path = write_lines(dir, records);
  const auto source = open_records({path}, {.format = RecordFormat::kLines});
  cut(path, kHalf + 500);
  std::uint64_t end = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    end += records[static_cast<std::size_t>(i)].size() + 1;
    if (end <= kHalf + 500) {
      EXPECT_EQ(text_of(source->read(i).bytes), records[static_cast<std::size_t>(i)]);
    } else {
      EXPECT_ERROR(source->read(i), ErrorCode::kDataLoss, "cut off");
    }
  }
}

// A checksum of zeros that does not match is no damage of the file's.
TEST(LostPages, FormatsWithChecksumsDoNotTakeItForDamage) {
  const TempDir dir;
  const Records records = numbered();
  for (const RecordFormat format : {RecordFormat::kTFRecord, RecordFormat::kDmlc}) {
    const std::string path = dir / record_format_name(format);
    {
      AtomicFile file(path);
      const auto sink = formats::make_sink(format, file);
      for (const std::string& record : records) {
        sink->add({reinterpret_cast<const std::uint8_t*>(record.data()), record.size()});
      }
      sink->finish();
      file.commit();
    }
    const auto source = open_records({path}, {.format = format});
    ASSERT_EQ(source->size(), kCount);
    cut(path, kHalf);
    EXPECT_ERROR(source->read(kCount - 1), ErrorCode::kDataLoss, path, "cut off while it was read");
  }
}

TEST(LostPages, WhatComesBackIsReadAgain) {
  const TempDir dir;
  const Records records = numbered();
  const auto check = [&](const std::string& path, const std::function<std::string(std::int64_t)>& read, bool seen) {
    const PassingLoss loss(path);
    for (int round = 0; round < 3; ++round) {
      for (std::int64_t i = 0; seen && i < kCount; ++i) EXPECT_EQ(read(i), records[static_cast<std::size_t>(i)]);
      loss.begin();
      EXPECT_LT(read_what_is_there(records, read), kCount * 3 / 4);
      loss.end();
      EXPECT_EQ(read_what_is_there(records, read), kCount);
    }
    // Another content is another file.
    loss.begin();
    EXPECT_LT(read_what_is_there(records, read), kCount * 3 / 4);
    loss.end();
    const timespec now[] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), now, 0), 0);
    EXPECT_ERROR(read(kCount - 1), ErrorCode::kDataLoss, "written since", "open it again");
  };
  for (const bool seen : {false, true}) {
    for (const int version : {1, 2}) {
      write_records(dir / "file", records, plain(version, 16 << 10));
      RecordIOReader reader(dir / "file");
      check(
          dir / "file", [&](std::int64_t i) { return text_of(reader[i]); }, seen);
    }
    const std::string lines = write_lines(dir, records);
    const auto source = open_records({lines}, {.format = RecordFormat::kLines});
    check(
        lines, [&](std::int64_t i) { return text_of(source->read(i).bytes); }, seen);
  }
}

// Whatever comes and goes while threads read, they get what is in the file, or an error.
TEST(LostPages, NobodyTakesZerosForBytesWhileTheyComeBack) {
  const TempDir dir;
  const Records records = numbered();
  const std::string path = write_lines(dir, records);
  const auto source = open_records({path}, {.format = RecordFormat::kLines});
  const PassingLoss loss(path);
  std::atomic<bool> over = false;
  std::atomic<std::int64_t> wrong = 0, refused = 0, whole = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t at = t; !over; at += 7) {
        const std::int64_t i = at % kCount;
        try {
          const std::string read = without_lost_pages([&] { return text_of(source->read(i).bytes); });
          ++(read == records[static_cast<std::size_t>(i)] ? whole : wrong);
        } catch (const Error&) {
          ++refused;
        }
      }
    });
  }
  for (int round = 0; round < 100; ++round) {
    loss.begin();
    std::this_thread::yield();
    loss.end();
    std::this_thread::yield();
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(whole, 0);
  EXPECT_EQ(read_what_is_there(records, [&](std::int64_t i) { return text_of(source->read(i).bytes); }), kCount);
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
