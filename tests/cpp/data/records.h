// Records as strings, and files of them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tandem/record_source.h"
#include "tandem/recordio.h"

namespace tandem::test {

using Records = std::vector<std::string>;

inline void write_records(const std::string& path, const Records& records, const RecordIOWriterOptions& options = {}) {
  RecordIOWriter writer(path, options);
  for (const auto& record : records) writer.write(record.data(), record.size());
  writer.close();
}

inline std::string text_of(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

inline Records read_records(RecordIOReader& reader) {
  Records records;
  for (std::int64_t i = 0; i < reader.size(); ++i) records.push_back(text_of(reader[i]));
  return records;
}

inline Records read_records(RecordSource& source) {
  Records records;
  for (std::int64_t i = 0; i < source.size(); ++i) records.push_back(text_of(source.read(i).bytes));
  return records;
}

inline Records random_records(int count, int max_size, unsigned seed, int alphabet = 256) {
  std::mt19937 random(seed);
  Records records;
  for (int i = 0; i < count; ++i) {
    std::string& record = records.emplace_back(random() % static_cast<unsigned>(max_size + 1), '\0');
    for (char& c : record) c = static_cast<char>(random() % static_cast<unsigned>(alphabet));
  }
  return records;
}

}  // namespace tandem::test
