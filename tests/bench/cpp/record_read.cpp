// Our side of `loader`'s cases of files: reads every record of a RecordIO file, and with it every checksum.
//
//   bench-record-read make FOLDER RECORDS      v1.recordio, v2.recordio and records.bin, the same records
//   bench-record-read read FILE PASSES         opened anew for each pass
//
// The second writes rank-0.json into the folder BENCH_OUT: records a second of the best pass, and the sum of all bytes.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRecordBytes = 1 + 28 * 28;  // a label, then pixels

void make(const std::string& folder, std::int64_t records) {
  tandem::RecordIOWriterOptions v2;
  v2.version = 2;
  tandem::RecordIOWriter one(folder + "/v1.recordio"), two(folder + "/v2.recordio", v2);
  std::ofstream plain(folder + "/records.bin", std::ios::binary);
  std::mt19937 random(1);
  std::vector<std::uint8_t> record(kRecordBytes);
  for (std::int64_t i = 0; i < records; ++i) {
    for (auto& byte : record) byte = static_cast<std::uint8_t>(random());
    record[0] %= 10;
    one.write(record);
    two.write(record);
    plain.write(reinterpret_cast<const char*>(record.data()), kRecordBytes);
  }
  one.close();
  two.close();
}

// In seconds. Labels are used, as a training program would; the other bytes are read by the checksum.
double read_all(const std::string& file, std::uint64_t& labels, std::int64_t& records) {
  const auto begin = Clock::now();
  const auto source = tandem::open_records({file});
  records = source->size();
  labels = 0;
  for (std::int64_t i = 0; i < records; ++i) labels += source->read(i).bytes[0];
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::uint64_t sum_of_bytes(const std::string& file) {
  const auto source = tandem::open_records({file});
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < source->size(); ++i) {
    for (const std::uint8_t byte : source->read(i).bytes) sum += byte;
  }
  return sum;
}

void read(const std::string& file, int passes) {
  double best = 1e9;
  std::uint64_t labels = 0;
  std::int64_t records = 0;
  for (int pass = 0; pass < passes; ++pass) best = std::min(best, read_all(file, labels, records));
  std::ofstream report(std::string(std::getenv("BENCH_OUT")) + "/rank-0.json");
  report << "{\"records_per_s\": " << static_cast<double>(records) / best << ", \"records\": " << records
         << ", \"labels\": " << labels << ", \"bytes\": " << sum_of_bytes(file) << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 4 ? argv[1] : "";
  try {
    if (mode == "make") {
      make(argv[2], std::atoll(argv[3]));
    } else if (mode == "read" && std::getenv("BENCH_OUT")) {
      read(argv[2], std::atoi(argv[3]));
    } else {
      std::cerr
          << "usage: bench-record-read make FOLDER RECORDS | BENCH_OUT=FOLDER bench-record-read read FILE PASSES\n";
      return 1;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
