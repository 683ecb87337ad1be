// What a profile says, for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

// Something that ran on a thread or a stream.
struct ProfiledSpan {
  std::string name;
  std::uint64_t thread = 0;
  std::int64_t begun = 0, ended = 0;  // nanoseconds
  bool nests = true;                  // no: it goes on beside what runs on its thread
};

// A line a name, those that took the most time of their own first.
std::string profile_table(std::vector<ProfiledSpan> spans);

}  // namespace tandem
