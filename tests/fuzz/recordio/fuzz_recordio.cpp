// Feeds damaged RecordIO and IDX files to their readers: whatever comes, the answer is records or a tandem::Error, in
// bounded memory.
//
//   fuzz_recordio SECONDS SEED
//
// Mutations are blind, so checksums are made right again in half of the cases: else nothing would get past them.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#include "cpp/data/temp_dir.h"
#include "crc32c.h"
#include "data/recordio/v1_format.h"
#include "tandem/error.h"
#include "tandem/mnist.h"
#include "tandem/recordio.h"

namespace {

using tandem::Compressor;
using tandem::test::FileBytes;
using Clock = std::chrono::steady_clock;

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : random_(seed) { make_corpus(); }

  void run(double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      fuzz_recordio();
      fuzz_idx();
      ++rounds_;
    }
    std::printf("%ld rounds: %ld files read, %ld refused\n", rounds_, read_, refused_);
    if (read_ == 0 || refused_ == 0) {
      std::fprintf(stderr, "the mutations reach nothing: one of the counts is zero\n");
      std::exit(1);
    }
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void make_corpus() {
    for (const Compressor compressor : {Compressor::kNone, Compressor::kSnappy, Compressor::kGzip}) {
      for (const std::uint64_t chunk_bytes : {60, 3000, 200000}) {
        tandem::RecordIOWriter writer(dir_ / "w", {compressor, chunk_bytes});
        for (int i = 0; i < 20; ++i) {
          const std::string record(below(400), static_cast<char>('a' + i));
          writer.write(record.data(), record.size());
        }
        writer.close();
        corpus_.push_back(tandem::test::read_file(dir_ / "w"));
      }
    }
    for (const Compressor compressor : {Compressor::kNone, Compressor::kZstd}) {
      for (const std::uint64_t chunk_bytes : {60, 3000, 200000}) {
        tandem::RecordIOWriterOptions options{compressor, chunk_bytes};
        options.version = 2;
        options.alignment = chunk_bytes == 60 ? 64 : 8;
        options.metadata.user["key"] = "value";
        tandem::RecordIOWriter writer(dir_ / "w", options);
        for (int i = 0; i < 20; ++i) {
          const std::string record(below(400), static_cast<char>('a' + i));
          writer.write(record.data(), record.size());
        }
        writer.close();
        corpus_.push_back(tandem::test::read_file(dir_ / "w"));
      }
    }
    images_ = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    labels_ = {0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 2};
  }

  void mutate(FileBytes& bytes) {
    for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); --times) {
      const std::size_t at = below(bytes.size());
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
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), below(30),
                       static_cast<std::uint8_t>(random_()));
          break;
        case 5:
          bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + below(30), bytes.size())));
          break;
        case 6: {  // part of another file
          const FileBytes& other = corpus_[below(corpus_.size())];
          const std::size_t from = below(other.size());
          const FileBytes part(other.begin() + static_cast<std::ptrdiff_t>(from),
                               other.begin() + static_cast<std::ptrdiff_t>(std::min(from + below(200), other.size())));
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
          break;
        }
      }
    }
  }

  // Gives every chunk that still looks like one its checksum.
  static void mend_checksums(FileBytes& bytes) {
    using namespace tandem::recordio;
    for (std::size_t at = 0; at + kHeaderBytes <= bytes.size();) {
      const std::size_t size = load_u32(bytes.data() + at + 12);
      if (load_u32(bytes.data() + at) != kMagic || size > bytes.size() - at - kHeaderBytes) return;
      store_u32(bytes.data() + at + 4, crc32({bytes.data() + at + kHeaderBytes, size}));
      at += kHeaderBytes + size;
    }
  }

  // The same for version 2, where any block may be a header: one whose checksum was right before it was changed.
  static void mend_checksums_v2(FileBytes& bytes, const FileBytes& before) {
    using namespace tandem::recordio;
    constexpr std::size_t kBlock = 64;
    for (std::size_t at = 0; at + kBlock <= std::min(bytes.size(), before.size()); at += kBlock) {
      if (load_u32(before.data() + at + 60) != tandem::crc32c({before.data() + at, 60})) continue;
      std::uint8_t* block = bytes.data() + at;
      const bool is_file = at == 0;
      const std::uint64_t size = load_u64(block + (is_file ? 32 : 48)), rest = bytes.size() - at - kBlock;
      if (size <= rest) {
        const std::uint64_t whole = std::min((size + kBlock - 1) / kBlock * kBlock, rest);
        store_u32(block + (is_file ? 40 : 56), tandem::crc32c({block + kBlock, static_cast<std::size_t>(whole)}));
      }
      store_u32(block + 60, tandem::crc32c({block, 60}));
    }
  }

  void expect_records_or_error(const std::function<void()>& body) {
    try {
      body();
      ++read_;
    } catch (const tandem::Error& error) {
      ++refused_;
      if (error.code() != tandem::ErrorCode::kDataLoss && error.code() != tandem::ErrorCode::kOutOfRange) {
        std::fprintf(stderr, "unexpected kind of error in round %ld: %s\n", rounds_, error.what());
        std::exit(1);
      }
    }
  }

  void fuzz_recordio() {
    const FileBytes& before = corpus_[below(corpus_.size())];
    FileBytes bytes = before;
    mutate(bytes);
    if (below(2)) {
      if (before[0] == 0x89) {
        mend_checksums_v2(bytes, before);
      } else {
        mend_checksums(bytes);
      }
    }
    tandem::test::write_file(dir_ / "r", bytes);
    expect_records_or_error([&] {
      tandem::RecordIOReader reader(dir_ / "r");
      unsigned sum = 0;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(reader.size(), 100000); ++i) {
        for (const std::uint8_t byte : reader[i]) sum += byte;
      }
      checksum_ = sum;
    });
    expect_records_or_error([&] { tandem::repair_recordio(dir_ / "r", dir_ / "repaired"); });
  }

  void fuzz_idx() {
    FileBytes images = images_, labels = labels_;
    mutate(images);
    if (below(2)) mutate(labels);
    tandem::test::write_file(dir_ / "i", images);
    tandem::test::write_file(dir_ / "l", labels);
    expect_records_or_error([&] { tandem::mnist_to_recordio(dir_ / "i", dir_ / "l", dir_ / "o"); });
  }

  std::mt19937 random_;
  tandem::test::TempDir dir_;
  std::vector<FileBytes> corpus_;
  FileBytes images_, labels_;
  long rounds_ = 0, read_ = 0, refused_ = 0;
  volatile unsigned checksum_ = 0;  // so that the bytes are really read
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_recordio SECONDS SEED\n");
    return 1;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{1u << 30, 1u << 30};  // a length that is believed shows as bad_alloc
  setrlimit(RLIMIT_AS, &memory);
#endif
  Fuzzer(static_cast<unsigned>(std::atoi(argv[2]))).run(std::atof(argv[1]));
}
