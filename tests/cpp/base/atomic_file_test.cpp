// Files that appear whole or not at all, and mapped ones.
#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/mapped_file.h"
#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"

namespace tandem::atomic_file_test {
namespace {

using test::TempDir;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const std::string& path) {
  const MappedFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename();
}

TEST(AtomicFileTest, AppearsWholeOrNotAtAll) {
  const TempDir dir;
  {
    AtomicFile dropped(dir / "f");
    dropped.append("half", 4);
    EXPECT_THAT(dir.names(), ElementsAre(base_name(dropped.temporary())));
    EXPECT_EQ(target_of_temporary(base_name(dropped.temporary())), "f");
  }
  EXPECT_THAT(dir.names(), IsEmpty());
  AtomicFile file(dir / "f", 0600);
  file.append("who", 3);
  file.append("le", 2);
  file.commit();
  EXPECT_THAT(dir.names(), ElementsAre("f"));
  EXPECT_EQ(text_of(dir / "f"), "whole");
  struct stat status{};
  ASSERT_EQ(::stat((dir / "f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(AtomicFileTest, StaysAsClosedAsTheFileItReplaces) {
  const TempDir dir;
  for (const mode_t mode : {0600, 0640, 0777}) {
    std::ofstream(dir / "f") << "old";
    ASSERT_EQ(::chmod((dir / "f").c_str(), mode), 0);
    AtomicFile file(dir / "f");
    file.commit();
    struct stat status{};
    ASSERT_EQ(::stat((dir / "f").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode & 0666u);
  }
}

// As a library does that takes the name of a file: into it, or another one in its place.
TEST(AtomicFileTest, OthersMayWriteIt) {
  const TempDir dir;
  for (const bool replaces : {false, true}) {
    AtomicFile file(dir / "f");
    if (replaces) {
      ASSERT_EQ(::unlink(file.temporary().c_str()), 0);
    }
    std::ofstream(file.temporary()) << (replaces ? "another" : "into it");
    file.reopen();
    file.commit();
    EXPECT_EQ(text_of(dir / "f"), replaces ? "another" : "into it");
    EXPECT_THAT(dir.names(), ElementsAre("f"));
  }
  AtomicFile nothing(dir / "g");
  EXPECT_ERROR(nothing.reopen(), ErrorCode::kIo, "cannot write", "/g", "No data");
  ASSERT_EQ(::unlink(nothing.temporary().c_str()), 0);
  EXPECT_ERROR(nothing.reopen(), ErrorCode::kIo, "cannot write", "/g", "No such file");
}

TEST(AtomicFileTest, RefusesWhatARenameWouldReplace) {
  const TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(AtomicFile(dir / "pipe"), ErrorCode::kIo, "it is a pipe");
  EXPECT_ERROR(AtomicFile("/dev/null"), ErrorCode::kIo, "it is a device");
  EXPECT_ERROR(AtomicFile(dir / ""), ErrorCode::kIo, "it is a folder");
  EXPECT_ERROR(AtomicFile(dir / "no/f"), ErrorCode::kNotFound, "cannot create", "No such file");
  EXPECT_THAT(dir.names(), ElementsAre("pipe"));
}

TEST(AtomicFileTest, OnlyItsOwnNamesAreTemporary) {
  EXPECT_EQ(target_of_temporary("a.rec.tmp12-345"), "a.rec");
  EXPECT_EQ(target_of_temporary("a.tmp1-2.tmp3-4"), "a.tmp1-2");
  for (const char* other : {"a.rec", "a.tmp", "a.tmp12", "a.tmp12-", "a.tmp-3", "a.tmp1-2x", "a.tmpx1-2", "tmp1-2"}) {
    EXPECT_EQ(target_of_temporary(other), std::nullopt) << other;
  }
}

TEST(MappedFileTest, SaysWhatIsNoFile) {
  const TempDir dir;
  std::ofstream(dir / "empty");
  EXPECT_TRUE(MappedFile(dir / "empty").bytes().empty());
  EXPECT_TRUE(MappedFile(dir / "empty", MappedFile::Access::kCopyOnWrite).bytes().empty());
  EXPECT_ERROR(MappedFile(dir / "none"), ErrorCode::kNotFound, "cannot read", "/none");
  EXPECT_ERROR(MappedFile(dir / ""), ErrorCode::kInvalidArgument, "it is a folder; name a file in it");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_ERROR(MappedFile(dir / "pipe"), ErrorCode::kInvalidArgument, "it is a pipe");
}

TEST(MappedFileTest, WhatIsCutOffIsRefused) {
  const TempDir dir;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(dir / "f") << std::string(3 * page, 'x');
  const MappedFile file(dir / "f");
  LostReads lost;
  ASSERT_EQ(::truncate((dir / "f").c_str(), static_cast<off_t>(page)), 0);
  EXPECT_EQ(file.bytes()[page - 1], 'x');
  EXPECT_FALSE(lost.any());
  EXPECT_EQ(file.bytes()[page], 0);
  EXPECT_TRUE(lost.any());
  EXPECT_NO_THROW(file.check(0, page));
  EXPECT_ERROR(file.check(page, 1), ErrorCode::kDataLoss, "cut off");
  EXPECT_ERROR(lost.require_none("it"), ErrorCode::kDataLoss, "it is not made");
}

TEST(MappedFileTest, ACopyOnWriteIsWrittenToBesideTheFile) {
  const TempDir dir;
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(dir / "f") << std::string(3 * page, 'x');
  EXPECT_EQ(MappedFile(dir / "f").writable(), nullptr);
  const MappedFile file(dir / "f", MappedFile::Access::kCopyOnWrite);
  file.writable()[page] = 'y';
  EXPECT_EQ(file.bytes()[page], 'y');
  EXPECT_EQ(text_of(dir / "f"), std::string(3 * page, 'x'));
  LostReads lost;
  ASSERT_EQ(::truncate((dir / "f").c_str(), static_cast<off_t>(page)), 0);
  file.writable()[2 * page] = 'z';  // what takes the place of lost pages is written to as well
  EXPECT_EQ(file.bytes()[2 * page], 'z');
  EXPECT_TRUE(lost.any());
  EXPECT_ERROR(file.check(2 * page, 1), ErrorCode::kDataLoss, "cut off");
}

}  // namespace
}  // namespace tandem::atomic_file_test
