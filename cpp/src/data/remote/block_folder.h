// Blocks of remote files in a local folder, a bounded amount of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "tandem/record_source.h"

namespace tandem::remote {

// Thread-safe, and safe for several processes at a time: a block appears whole. What was not used for longest goes
// first. One BlockFolder keeps the folder within its limit, also while many threads put blocks. Several, of as many
// processes, do not see each other's last blocks: together they reach three quarters of the limit and, for each, a 64th
// of it, or the blocks that its threads write at a time where those are more. Trouble with the folder is no error:
// blocks are not kept then.
//
// What is in the folder is taken for what a server sent, so nobody else is to write it: the folder is made for this
// user alone (0700), and so are its blocks; a block of another user's, root's apart, counts as none, wherever the
// folder is.
class BlockFolder {
 public:
  // Makes the folder if needed, and those above it. With `limit_bytes` 0 nothing is kept.
  BlockFolder(std::string folder, std::uint64_t limit_bytes);

  // `name` is of a file name's characters. Nothing where it is not there, or is damaged.
  std::optional<Record> find(const std::string& name);
  void put(const std::string& name, std::span<const std::uint8_t> bytes);

 private:
  bool reserve(std::uint64_t bytes);
  bool make_room(std::uint64_t needed);

  const std::string folder_;
  const std::uint64_t limit_;
  std::mutex mutex_;
  std::uint64_t written_since_look_;  // others write as well, so that only looking tells what is there
  std::uint64_t being_written_ = 0;
};

// What the environment says, where options do not; no folder is "".
std::string default_cache_folder();
std::uint64_t default_cache_bytes();

}  // namespace tandem::remote
