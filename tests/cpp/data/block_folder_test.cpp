// The folder of remote files' blocks: its bound, whoever writes there.
#include "data/remote/block_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cpp/data/temp_dir.h"
#include "data/remote/shared_block_folder.h"

namespace tandem::remote::block_folder_test {
namespace {

using test::FileBytes;
using test::TempDir;
using test::write_file;
using ::testing::Contains;
using ::testing::Not;

using Folders = std::vector<std::shared_ptr<BlockFolder>>;

constexpr std::uint64_t kBytes = 96, kLimit = 320 * (kBytes + 4);  // of a block, which has a checksum too

class BlockFolderTest : public testing::Test {
 protected:
  std::uint64_t total() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "")) bytes += entry.file_size();
    return bytes;
  }
  std::shared_ptr<BlockFolder> shared() const { return shared_block_folder(dir_ / "", kLimit); }
  // A block of each in turn, as files of shards that are read in random order do; the most that was there.
  std::uint64_t put_in_turns(const Folders& folders, int rounds) const {
    std::uint64_t most = 0;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < folders.size(); ++i) {
        folders[i]->put(std::to_string(i) + "-" + std::to_string(round), FileBytes(kBytes, 'x'));
        most = std::max(most, total());
      }
    }
    return most;
  }
  void write_aged(const std::string& name, std::uint64_t bytes, std::chrono::minutes age) const {
    write_file(dir_ / name, FileBytes(bytes, 't'));
    std::filesystem::last_write_time(dir_ / name, std::filesystem::file_time_type::clock::now() - age);
  }

  const TempDir dir_;
};

// A map of it would have zeros in place of what its disk cannot read any more.
TEST_F(BlockFolderTest, WhatWasFoundStaysWhateverBecomesOfItsFile) {
  const auto folder = shared();
  const FileBytes bytes(kBytes, 'x');
  folder->put("block", bytes);
  const auto found = folder->find("block");
  ASSERT_TRUE(found);
  std::filesystem::resize_file(dir_ / "block.block", 0);
  EXPECT_TRUE(std::ranges::equal(found->bytes, bytes));
  EXPECT_FALSE(folder->find("block"));
}

TEST_F(BlockFolderTest, ManyFilesOfAProcessStayWithinOneBound) {
  Folders folders;
  for (int i = 0; i < 64; ++i) folders.push_back(shared());
  const std::uint64_t most = put_in_turns(folders, 10);
  EXPECT_LE(most, kLimit);
  EXPECT_GE(most, kLimit / 2);
  const auto newest = folders[0]->find("63-9");
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->bytes.size(), kBytes);
  EXPECT_FALSE(folders[0]->find("0-0"));
}

TEST_F(BlockFolderTest, IsOneHoweverItsPathIsWritten) {
  const auto one = shared();
  EXPECT_EQ(shared_block_folder(dir_ / "./", kLimit), one);
  EXPECT_EQ(shared_block_folder(dir_ / "none/..", kLimit), one);
  std::filesystem::create_symlink(dir_ / "", dir_ / "link");
  EXPECT_EQ(shared_block_folder(dir_ / "link", kLimit), one);
  EXPECT_NE(shared_block_folder(dir_ / "", kLimit + 1), one);
  const auto other = shared_block_folder(dir_ / "other/", kLimit);  // made by this
  EXPECT_NE(other, one);
  EXPECT_EQ(shared_block_folder(dir_ / "other", kLimit), other);
}

TEST_F(BlockFolderTest, ThreadsStayWithinTheBound) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const auto folder = shared();
      for (int i = 0; i < 100; ++i) folder->put(std::to_string(t) + "-" + std::to_string(i), FileBytes(kBytes, 'x'));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(total(), kLimit);
}

// Each process has a BlockFolder of its own.
TEST_F(BlockFolderTest, SixteenProcessesStayWithinTheBound) {
  Folders folders;
  for (int i = 0; i < 16; ++i) folders.push_back(std::make_shared<BlockFolder>(dir_ / "", kLimit));
  EXPECT_LE(put_in_turns(folders, 60), kLimit);
}

TEST_F(BlockFolderTest, BlocksNearTheLimitAreWithinItToo) {
  const auto folder = shared();
  for (const std::uint64_t bytes : {kLimit / 2 - 4, kLimit * 2 / 3, kLimit - 4, kLimit / 3}) {
    folder->put(std::to_string(bytes), FileBytes(bytes, 'x'));
    EXPECT_TRUE(folder->find(std::to_string(bytes))) << bytes;
    EXPECT_LE(total(), kLimit) << bytes;
  }
  folder->put("larger", FileBytes(kLimit - 3, 'x'));
  EXPECT_FALSE(folder->find("larger"));
}

TEST_F(BlockFolderTest, WhatKilledProcessesLeftGoesAfterAnHour) {
  write_aged("x.block.tmp1-1", kLimit, std::chrono::minutes(61));
  write_aged("y.block.tmp1-2", 100, std::chrono::minutes(59));
  write_aged("others.txt.tmp1-3", 100, std::chrono::minutes(61));
  write_aged("x.block.tmp", 100, std::chrono::minutes(61));
  const auto folder = shared();
  folder->put("new", FileBytes(kBytes, 'x'));
  EXPECT_THAT(dir_.names(), Not(Contains("x.block.tmp1-1")));
  for (const char* name : {"new.block", "y.block.tmp1-2", "others.txt.tmp1-3", "x.block.tmp"}) {
    EXPECT_THAT(dir_.names(), Contains(name));
  }
}

TEST_F(BlockFolderTest, WhatOthersAreWritingCounts) {
  write_aged("x.block.tmp1-1", kLimit - 5 * (kBytes + 4), std::chrono::minutes(0));
  EXPECT_LE(put_in_turns({shared()}, 20), kLimit);
  EXPECT_THAT(dir_.names(), Contains("0-19.block"));
  write_aged("y.block.tmp1-2", 5 * (kBytes + 4), std::chrono::minutes(0));
  put_in_turns({shared()}, 20);
  EXPECT_LE(total(), kLimit);
}

TEST_F(BlockFolderTest, IsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  BlockFolder folder(dir_ / "above/below", kLimit);
  folder.put("new", FileBytes(kBytes, 'x'));
  ::umask(before);
  const auto mode_of = [&](const std::string& name) {
    struct stat status {};
    EXPECT_EQ(::stat((dir_ / name).c_str(), &status), 0) << name;
    return status.st_mode & 0777;
  };
  EXPECT_EQ(mode_of("above"), 0700u);
  EXPECT_EQ(mode_of("above/below"), 0700u);
  EXPECT_EQ(mode_of("above/below/new.block"), 0600u);
  EXPECT_TRUE(folder.find("new"));
}

TEST_F(BlockFolderTest, BlocksOfOtherUsersAreNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  BlockFolder folder(dir_ / "", kLimit);
  folder.put("forged", FileBytes(kBytes, 'x'));
  ASSERT_TRUE(folder.find("forged"));
  ASSERT_EQ(::chown((dir_ / "forged.block").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(folder.find("forged"));
}

}  // namespace
}  // namespace tandem::remote::block_folder_test
