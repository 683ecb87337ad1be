// Feeds damaged files of other programs' formats to their readers, each through open_records with its format chosen,
// and now and then left to be told.
//
//   fuzz_formats SECONDS SEED
#include <zlib.h>

#include "base/crc32c.h"
#include "cpp/data/temp_dir.h"
#include "data/formats/mxnet_list.h"
#include "data/recordio/bytes.h"
#include "fuzz/fuzz.h"
#include "tandem/mxnet_image.h"
#include "tandem/open_records.h"

namespace {

using tandem::load_u32;
using tandem::load_u64;
using tandem::RecordFormat;
using tandem::store_u32;
using tandem::store_u64;
using tandem::test::FileBytes;

void append(FileBytes& bytes, const std::string& text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void append_u32(FileBytes& bytes, std::uint32_t value) {
  bytes.resize(bytes.size() + 4);
  store_u32(bytes.data() + bytes.size() - 4, value);
}

FileBytes tfrecord() {
  FileBytes file;
  for (const std::string text : {"first", "", "a third record of some length", "x"}) {
    FileBytes length(8);
    store_u64(length.data(), text.size());
    const FileBytes bytes(text.begin(), text.end());
    file.insert(file.end(), length.begin(), length.end());
    append_u32(file, tandem::masked_crc32c(length));
    append(file, text);
    append_u32(file, tandem::masked_crc32c(bytes));
  }
  return file;
}

FileBytes dmlc() {
  FileBytes file;
  const auto part = [&](std::uint32_t kind, const std::string& text) {
    append_u32(file, 0xced7230a);
    append_u32(file, kind << 29 | static_cast<std::uint32_t>(text.size()));
    append(file, text);
    file.resize((file.size() + 3) / 4 * 4);
  };
  part(0, std::string(30, 'i'));
  part(1, "abcd");
  part(2, "efgh1234");
  part(3, "xyz");
  part(0, "");
  return file;
}

// The sum that a tar's header has of itself.
void mend_tar_block(std::uint8_t* block) {
  std::memset(block + 148, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) sum += block[i];
  std::snprintf(reinterpret_cast<char*>(block) + 148, 8, "%06o", sum);
}

FileBytes tar() {
  FileBytes file;
  const auto member = [&](const std::string& name, const std::string& content, char kind = '0') {
    FileBytes block(512);
    std::memcpy(block.data(), name.data(), name.size());
    std::snprintf(reinterpret_cast<char*>(block.data()) + 124, 12, "%011zo", content.size());
    block[156] = static_cast<std::uint8_t>(kind);
    std::memcpy(block.data() + 257, "ustar\00000", 8);
    mend_tar_block(block.data());
    file.insert(file.end(), block.begin(), block.end());
    append(file, content);
    file.resize((file.size() + 511) / 512 * 512);
  };
  member("a/1.jpg", std::string(600, 'j'));
  member("a/1.cls", "3");
  member("././@LongLink", std::string(200, 'n') + ".txt", 'L');
  member("short", "text");
  member("pax", "14 path=b.txt\n9 size=4\n", 'x');
  member("c", "abcd");
  member("folder/", "", '5');
  file.resize(file.size() + 1024);
  return file;
}

FileBytes gzipped(const FileBytes& bytes) {
  FileBytes out(bytes.size() + 100);
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

FileBytes cifar(std::size_t labels) {
  FileBytes file;
  for (int i = 0; i < 3; ++i) {
    file.resize(file.size() + labels, static_cast<std::uint8_t>(i));
    file.resize(file.size() + 3072, static_cast<std::uint8_t>(100 + i));
  }
  return file;
}

FileBytes text(const std::string& text) {
  return {text.begin(), text.end()};
}

struct Seed {
  RecordFormat format;
  FileBytes bytes;
};

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : fuzz_(seed) {
    const FileBytes idx = {0, 0, 0x0b, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8};
    seeds_ = {{RecordFormat::kTFRecord, tfrecord()},
              {RecordFormat::kDmlc, dmlc()},
              {RecordFormat::kTar, tar()},
              {RecordFormat::kIdx, idx},
              {RecordFormat::kIdx, gzipped(idx)},
              {RecordFormat::kCifar10, cifar(1)},
              {RecordFormat::kCifar100, cifar(2)},
              {RecordFormat::kLines, text("one\n\ntwo\r\nthree")},
              {RecordFormat::kCsv, text("a,b\n\"two\nlines\",\"\"\"\"\nc,d\n")},
              {RecordFormat::kNdjson, text("{\"a\": 1}\n{}\n")}};
    for (const Seed& seed : seeds_) corpus_.push_back(seed.bytes);
  }

  void run(double seconds) {
    fuzz_.run(seconds, [this] {
      fuzz_file(seeds_[fuzz_.below(seeds_.size())]);
      fuzz_index();
      fuzz_list();
    });
  }

 private:
  void fuzz_file(const Seed& seed) {
    FileBytes bytes = seed.bytes;
    fuzz_.mutate(bytes, corpus_);
    if (fuzz_.below(2)) mend(seed.format, bytes);
    tandem::test::write_file(dir_ / "f", bytes);
    fuzz_.expect_records_or_error([&] { read_all(dir_ / "f", seed.format); });
    fuzz_.expect_records_or_error([&] {
      try {
        read_all(dir_ / "f", RecordFormat::kDetect);
      } catch (const tandem::Error& error) {  // what is of no format is refused as such
        if (error.code() != tandem::ErrorCode::kInvalidArgument) throw;
      }
    });
  }

  // Checksums that mutations cannot hit.
  static void mend(RecordFormat format, FileBytes& bytes) {
    if (format == RecordFormat::kTFRecord) {
      for (std::size_t at = 0; at + 16 <= bytes.size();) {
        store_u32(bytes.data() + at + 8, tandem::masked_crc32c({bytes.data() + at, 8}));
        const std::uint64_t length = load_u64(bytes.data() + at);
        if (length > bytes.size() - at - 16) return;
        store_u32(bytes.data() + at + 12 + length, tandem::masked_crc32c({bytes.data() + at + 12, length}));
        at += 16 + length;
      }
    }
    if (format == RecordFormat::kTar) {
      for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512) {
        if (bytes[at + 257] == 'u') mend_tar_block(bytes.data() + at);
      }
    }
  }

  void fuzz_index() {
    tandem::test::write_file(dir_ / "d.rec", corpus_[1]);
    FileBytes index = text("0\t0\n1\t40\n2\t76\n");
    fuzz_.mutate(index, corpus_);
    tandem::test::write_file(dir_ / "d.idx", index);
    fuzz_.expect_records_or_error([&] { read_all(dir_ / "d.rec", RecordFormat::kDmlc); });
  }

  void fuzz_list() {
    FileBytes list = text("0\t1.0\tcat/1.jpg\n1\t0\t2.5\tdog/1.jpg\n");
    fuzz_.mutate(list, corpus_);
    tandem::test::write_file(dir_ / "l.lst", list);
    try {
      tandem::formats::read_mxnet_list(dir_ / "l.lst");
    } catch (const tandem::Error& error) {
      if (error.code() != tandem::ErrorCode::kInvalidArgument) throw;
    }
  }

  void read_all(const std::string& path, RecordFormat format) {
    const auto source = tandem::open_records({path}, {.format = format});
    unsigned sum = static_cast<unsigned>(source->fingerprint());
    for (std::int64_t i = 0; i < std::min<std::int64_t>(source->size(), 100000); ++i) {
      const tandem::Record record = source->read(i);
      for (const std::uint8_t byte : record.bytes) sum += byte;
      sum += static_cast<unsigned>(source->place(i).size());
      if (format == RecordFormat::kDmlc && record.bytes.size() >= 24) parse_image(record.bytes);
    }
    checksum_ = sum;
  }

  void parse_image(std::span<const std::uint8_t> record) {
    try {
      checksum_ = static_cast<unsigned>(tandem::parse_mxnet_image(record).content.size());
    } catch (const tandem::Error&) {
    }
  }

  tandem::test::Fuzz fuzz_;
  tandem::test::TempDir dir_;
  std::vector<Seed> seeds_;
  std::vector<FileBytes> corpus_;
  volatile unsigned checksum_ = 0;  // so that the bytes are really read
};

}  // namespace

int main(int argc, char** argv) {
  return tandem::test::fuzz_main(argc, argv, [](double seconds, unsigned seed) { Fuzzer(seed).run(seconds); });
}
