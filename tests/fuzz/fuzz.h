// What must come of mutated files: whatever they are, records or a tandem::Error, in bounded memory.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "fuzz/mutator.h"
#include "tandem/error.h"

namespace tandem::test {

class Fuzz : public Mutator {
 public:
  using Mutator::Mutator;

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

  // `unsupported`: where that is as good an answer as damage, whatever it is about.
  void expect_records_or_error(const std::function<void()>& body, bool unsupported = false) {
    try {
      body();
      ++read_;
    } catch (const Error& error) {
      ++refused_;
      if (!is_expected(error) && !(unsupported && error.code() == ErrorCode::kUnsupported)) {
        std::fprintf(stderr, "unexpected kind of error in round %ld: %s\n", rounds_, error.what());
        std::exit(1);
      }
    }
  }

 private:
  // A chunk whose length asks for more memory than is allowed may be good: of it, kUnsupported says what to raise.
  static bool is_expected(const Error& error) {
    const bool is_too_large = std::string_view(error.what()).find("most_chunk_bytes") != std::string_view::npos;
    return error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kOutOfRange ||
           (error.code() == ErrorCode::kUnsupported && is_too_large);
  }

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
