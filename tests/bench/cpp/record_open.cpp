// Our side of `loader`'s cases of large sets: opens 100 GB of RecordIO files, which are sparse, but whole.
//
//   bench-record-open make v1|v2 FOLDER
//   bench-record-open open FOLDER
//
// The second writes rank-0.json into the folder BENCH_OUT: seconds until the set is open, the most memory that the
// process had by then in MB, and what it knows of the set.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "data/recordio/v1_format.h"
#include "data/recordio/v2_format.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace {

using namespace tandem::recordio;
using tandem::append_u32;
using tandem::store_u32;
using tandem::store_u64;
using Clock = std::chrono::steady_clock;

constexpr int kFiles = 10;
constexpr std::uint64_t kChunks = 2400;            // of a file, which makes 10 GB
constexpr std::uint64_t kChunkBytes = 4ull << 20;  // many small chunks are harder than few large ones

class SparseFile {
 public:
  explicit SparseFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  void put(Bytes bytes) { file_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes)); }
  void skip_to(std::uint64_t offset) { file_.seekp(static_cast<std::streamoff>(offset)); }
  void close(std::uint64_t size) {
    file_.close();
    if (!file_) throw std::runtime_error("cannot write " + path_);
    std::filesystem::resize_file(path_, size);
  }

 private:
  const std::string path_;
  std::ofstream file_;
};

// Zeros are records without bytes.
void make_v1(const std::string& path) {
  const std::uint32_t checksum = tandem::crc32(std::vector<std::uint8_t>(kChunkBytes));
  std::vector<std::uint8_t> header;
  for (const std::uint64_t field :
       {std::uint64_t{kMagic}, std::uint64_t{checksum}, std::uint64_t{0}, kChunkBytes, kChunkBytes / 4}) {
    append_u32(header, static_cast<std::uint32_t>(field));
  }
  SparseFile file(path);
  for (std::uint64_t i = 0; i < kChunks; ++i) {
    file.skip_to(i * (kHeaderBytes + kChunkBytes));
    file.put(header);
  }
  file.close(kChunks * (kHeaderBytes + kChunkBytes));
  tandem::write_recordio_index(path);
}

// Records of zeros, 64 of them in a chunk.
void make_v2(const std::string& path) {
  constexpr std::uint64_t kRecords = 64, kTable = 8 * kRecords, kRecordBytes = (kChunkBytes - kTable) / kRecords;
  std::vector<std::uint8_t> content(kChunkBytes);
  for (std::uint64_t i = 0; i < kRecords; ++i) store_u64(content.data() + 8 * i, kTable + (i + 1) * kRecordBytes);
  v2::ChunkHeader chunk{};
  chunk.type = v2::ChunkType::kRecords;
  chunk.alignment = 1;
  chunk.records = kRecords;
  chunk.content_bytes = chunk.stored_bytes = kChunkBytes;
  chunk.stored_crc = tandem::crc32c(content);

  SparseFile file(path);
  const std::string text = v2::encode_metadata({});
  std::vector<std::uint8_t> metadata(text.begin(), text.end());
  metadata.resize(v2::padded(metadata.size()));
  file.put(v2::encode(v2::FileHeader{chunk.sync, text.size(), tandem::crc32c(metadata)}));
  file.put(metadata);

  std::uint64_t offset = v2::kBlock + metadata.size();
  std::vector<std::uint8_t> entries(kChunks * v2::kFooterEntryBytes);
  for (std::uint64_t i = 0; i < kChunks; ++i) {
    chunk.first_record = i * kRecords;
    file.skip_to(offset);
    file.put(v2::encode(chunk));
    file.put(Bytes(content).first(kTable));
    std::uint8_t* entry = entries.data() + i * v2::kFooterEntryBytes;
    store_u64(entry, offset);
    store_u64(entry + 8, kRecords);
    store_u64(entry + 16, kChunkBytes);
    store_u64(entry + 24, kChunkBytes);
    offset += chunk.whole_bytes();
  }
  v2::ChunkHeader footer{};
  footer.type = v2::ChunkType::kFooter;
  footer.alignment = 1;
  footer.first_record = kChunks * kRecords;
  footer.records = kChunks;
  footer.content_bytes = footer.stored_bytes = entries.size();
  footer.stored_crc = tandem::crc32c(entries);
  file.skip_to(offset);
  file.put(v2::encode(footer));
  file.put(entries);
  file.put(v2::encode(v2::Trailer{chunk.sync, offset, kChunks * kRecords, kChunks}));
  file.close(offset + footer.whole_bytes() + v2::kBlock);
}

void make(const std::string& version, const std::string& folder) {
  for (int i = 0; i < kFiles; ++i) {
    const std::string path = folder + "/" + std::to_string(i) + ".recordio";
    if (version == "v1") {
      make_v1(path);
    } else {
      make_v2(path);
    }
  }
}

// In MB.
double most_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kib = 0;
      status >> kib;
      return kib * 1024 / 1e6;
    }
  }
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

void open(const std::string& folder) {
  const auto begin = Clock::now();
  const auto source = tandem::open_records({folder + "/*.recordio"});
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double memory = most_memory();
  // What was opened can be read: the first and the last record, from chunks of the first and the last file.
  const std::size_t first = source->read(0).bytes.size(), last = source->read(source->size() - 1).bytes.size();
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".recordio") bytes += entry.file_size();
  }
  std::ofstream report(std::string(std::getenv("BENCH_OUT")) + "/rank-0.json");
  report << "{\"s\": " << seconds << ", \"mb\": " << memory << ", \"records\": " << source->size()
         << ", \"bytes\": " << bytes << ", \"first\": " << first << ", \"last\": " << last << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[0] == "make" && (words[1] == "v1" || words[1] == "v2")) {
      make(words[1], words[2]);
    } else if (words.size() == 2 && words[0] == "open" && std::getenv("BENCH_OUT")) {
      open(words[1]);
    } else {
      std::cerr << "usage: bench-record-open make v1|v2 FOLDER | BENCH_OUT=FOLDER bench-record-open open FOLDER\n";
      return 1;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
