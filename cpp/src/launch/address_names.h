// Which functions addresses in another process belong to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem::launch {

// Names come from the symbol tables (.symtab, .dynsym) of the files that the process has mapped. Not thread-safe.
class AddressNames {
 public:
  // Reads /proc/PID/maps. A process that is gone has no mappings.
  explicit AddressNames(pid_t pid);

  // For name(): each file's tables are read once for all of its addresses.
  void look_up(const std::vector<std::uintptr_t>& addresses);

  // "tandem::Dataset::get(long) [libtandem_core.so]", "[libc.so.6+0x86a4d]", or "0x7f2c…" in memory of no file.
  std::string name(std::uintptr_t address) const;

 private:
  struct Mapping {
    std::uintptr_t begin, end;
    std::uint64_t offset;  // in the file
    std::string path;
  };
  const Mapping* mapping_of(std::uintptr_t address) const;

  std::vector<Mapping> mappings_;  // in order
  std::map<std::uintptr_t, std::string> functions_;
};

}  // namespace tandem::launch
