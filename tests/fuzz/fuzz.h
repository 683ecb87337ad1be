// Mutations of files, and what must come of them: whatever they are, records or a tandem::Error, in bounded memory.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "cpp/data/temp_dir.h"
#include "tandem/error.h"

namespace tandem::test {

class Fuzz {
 public:
  explicit Fuzz(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  // Calls `round` until the time is over, and exits with 1 where nothing was refused, or nothing read.
  void run(double seconds, const std::function<void()>& round) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    for (; Clock::now() < end; ++rounds_) round();
    std::printf("%ld rounds: %ld files read, %ld refused\n", rounds_, read_, refused_);
    if (read_ == 0 || refused_ == 0) {
      std::fprintf(stderr, "the mutations reach nothing: one of the counts is zero\n");
      std::exit(1);
    }
  }

  // One to four changes; parts of `corpus` may get in.
  void mutate(FileBytes& bytes, const std::vector<FileBytes>& corpus) {
    for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) {
      const std::size_t at = below(bytes.size());
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (below(7)) {
        case 0:
          bytes[at] ^= static_cast<std::uint8_t>(1 << below(8));
          break;
        case 1:
          bytes[at] = static_cast<std::uint8_t>(random_());
          break;
        case 2:  // an extreme number, in either byte order
          for (std::size_t i = at; i < std::min(at + 4, bytes.size()); ++i) bytes[i] = below(2) ? 0xff : 0x7f;
          break;
        case 3:
          bytes.resize(at);
          break;
        case 4:
          bytes.insert(place, below(30), static_cast<std::uint8_t>(random_()));
          break;
        case 5:
          bytes.erase(place, bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + below(30), bytes.size())));
          break;
        case 6: {  // part of another file
          const FileBytes& other = corpus[below(corpus.size())];
          const std::size_t from = below(other.size());
          const FileBytes part(other.begin() + static_cast<std::ptrdiff_t>(from),
                               other.begin() + static_cast<std::ptrdiff_t>(std::min(from + below(200), other.size())));
          bytes.insert(place, part.begin(), part.end());
          break;
        }
      }
    }
  }

  void expect_records_or_error(const std::function<void()>& body) {
    try {
      body();
      ++read_;
    } catch (const Error& error) {
      ++refused_;
      if (error.code() != ErrorCode::kDataLoss && error.code() != ErrorCode::kOutOfRange) {
        std::fprintf(stderr, "unexpected kind of error in round %ld: %s\n", rounds_, error.what());
        std::exit(1);
      }
    }
  }

 private:
  std::mt19937 random_;
  long rounds_ = 0, read_ = 0, refused_ = 0;
};

// PROGRAM SECONDS SEED
inline int fuzz_main(int argc, char** argv, const std::function<void(double seconds, unsigned seed)>& run) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SECONDS SEED\n", argv[0]);
    return 1;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{1u << 30, 1u << 30};  // a length that is believed shows as bad_alloc
  setrlimit(RLIMIT_AS, &memory);
#endif
  run(std::atof(argv[1]), static_cast<unsigned>(std::atoi(argv[2])));
  return 0;
}

}  // namespace tandem::test
