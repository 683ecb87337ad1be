// Feeds damaged RecordIO and IDX files to their readers: whatever comes, the answer is records or a tandem::Error, in
// bounded memory.
//
//   fuzz_recordio SECONDS SEED
//
// Mutations are blind, so checksums are made right again in half of the cases: else nothing would get past them.
#include "base/bytes.h"
#include "base/crc32c.h"
#include "cpp/data/temp_dir.h"
#include "cpp/data/v2_without_records.h"
#include "data/recordio/v1_format.h"
#include "fuzz/fuzz.h"
#include "tandem/mnist.h"
#include "tandem/recordio.h"

namespace {

using tandem::Compressor;
using tandem::load_u32;
using tandem::load_u64;
using tandem::store_u32;
using tandem::test::FileBytes;

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : fuzz_(seed) { make_corpus(); }

  void run(double seconds) {
    fuzz_.run(seconds, [this] {
      fuzz_recordio();
      fuzz_index();
      fuzz_idx();
    });
  }

 private:
  void make_corpus() {
    for (const Compressor compressor : {Compressor::kNone, Compressor::kSnappy, Compressor::kGzip}) {
      for (const std::uint64_t chunk_bytes : {60, 3000, 200000}) {
        tandem::RecordIOWriter writer(dir_ / "w", {compressor, chunk_bytes});
        for (int i = 0; i < 20; ++i) {
          const std::string record(fuzz_.below(400), static_cast<char>('a' + i));
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
          const std::string record(fuzz_.below(400), static_cast<char>('a' + i));
          writer.write(record.data(), record.size());
        }
        writer.close();
        corpus_.push_back(tandem::test::read_file(dir_ / "w"));
      }
    }
    const std::string schema = tandem::test::nested_json(100);
    corpus_.push_back(tandem::test::v2_without_records(R"({"schema":)" + schema + R"(,"user":{}})"));
    make_dialects();
    images_ = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    labels_ = {0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 2};
  }

  // The first chunks of v1 files as pyrecordio and Paddle fluid order their headers, which agree without compression.
  void make_dialects() {
    using namespace tandem::recordio;
    for (std::size_t i = 0; i < 2; ++i) {
      const FileBytes original = corpus_[i];
      const std::uint32_t size = load_u32(original.data() + 12);
      FileBytes file(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + size));
      const Bytes payload = Bytes(file).subspan(kHeaderBytes);
      store_u32(file.data() + 4, load_u32(original.data() + 16));
      store_u32(file.data() + 8, i == 0 ? tandem::crc32(payload) : tandem::crc32c(payload));
      store_u32(file.data() + 12, i == 0 ? 0 : 1);
      store_u32(file.data() + 16, size);
      corpus_.push_back(file);
    }
  }

  // Gives every chunk that still looks like one its checksum.
  static void mend_checksums(FileBytes& bytes) {
    using namespace tandem::recordio;
    for (std::size_t at = 0; at + kHeaderBytes <= bytes.size();) {
      const std::size_t size = load_u32(bytes.data() + at + 12);
      if (load_u32(bytes.data() + at) != kMagic || size > bytes.size() - at - kHeaderBytes) return;
      store_u32(bytes.data() + at + 4, tandem::crc32({bytes.data() + at + kHeaderBytes, size}));
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

  void fuzz_recordio() {
    const FileBytes& before = corpus_[fuzz_.below(corpus_.size())];
    FileBytes bytes = before;
    fuzz_.mutate(bytes, corpus_);
    if (fuzz_.below(2)) {
      if (before[0] == 0x89) {
        mend_checksums_v2(bytes, before);
      } else {
        mend_checksums(bytes);
      }
    }
    tandem::test::write_file(dir_ / "r", bytes);
    fuzz_.expect_records_or_error([&] { read_all(dir_ / "r"); });
    fuzz_.expect_records_or_error([&] { tandem::repair_recordio(dir_ / "r", dir_ / "repaired"); });
  }

  // A good file with a sidecar that lies: its records come, or an error at the chunk that it is wrong about.
  void fuzz_index() {
    const std::string file = dir_ / "indexed";
    if (indexed_.empty()) {
      tandem::RecordIOWriter writer(file, {Compressor::kNone, 60});
      for (int i = 0; i < 20; ++i) writer.write("some bytes of a record, more of them and more", 20 + fuzz_.below(20));
      writer.close();
      tandem::write_recordio_index(file);
      indexed_ = tandem::test::read_file(file + ".idx");
    }
    FileBytes index = indexed_;
    fuzz_.mutate(index, corpus_);
    if (fuzz_.below(2) && index.size() >= 64) {
      tandem::store_u64(index.data() + 32, (index.size() - 64) / 24);
      tandem::store_u32(index.data() + 40, tandem::crc32c({index.data() + 64, index.size() - 64}));
      tandem::store_u32(index.data() + 60, tandem::crc32c({index.data(), 60}));
    }
    tandem::test::write_file(file + ".idx", index);
    fuzz_.expect_records_or_error([&] { read_all(file); });
  }

  void read_all(const std::string& path) {
    tandem::RecordIOReader reader(path);
    unsigned sum = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(reader.size(), 100000); ++i) {
      for (const std::uint8_t byte : reader[i]) sum += byte;
    }
    checksum_ = sum;
  }

  void fuzz_idx() {
    FileBytes images = images_, labels = labels_;
    fuzz_.mutate(images, corpus_);
    if (fuzz_.below(2)) fuzz_.mutate(labels, corpus_);
    tandem::test::write_file(dir_ / "i", images);
    tandem::test::write_file(dir_ / "l", labels);
    fuzz_.expect_records_or_error([&] { tandem::mnist_to_recordio(dir_ / "i", dir_ / "l", dir_ / "o"); });
  }

  tandem::test::Fuzz fuzz_;
  tandem::test::TempDir dir_;
  std::vector<FileBytes> corpus_;
  FileBytes images_, labels_, indexed_;
  volatile unsigned checksum_ = 0;  // so that the bytes are really read
};

}  // namespace

int main(int argc, char** argv) {
  return tandem::test::fuzz_main(argc, argv, [](double seconds, unsigned seed) { Fuzzer(seed).run(seconds); });
}
