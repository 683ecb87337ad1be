// Which chunk has a record, for readers in any order.
#include "data/recordio/chunk_finder.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace tandem::chunk_finder_test {
namespace {

TEST(ChunkFinder, FindsRecordsInWhateverOrderTheyAreAskedFor) {
  struct Chunk {
    std::int64_t first_record;
    std::int64_t records;
  };
  std::vector<Chunk> chunks;
  std::vector<std::size_t> of_record;
  for (const std::int64_t records : {0, 0, 3, 1, 0, 2, 0, 0, 4, 1, 0}) {
    of_record.insert(of_record.end(), static_cast<std::size_t>(records), chunks.size());
    chunks.push_back({static_cast<std::int64_t>(of_record.size()) - records, records});
  }
  // An empty chunk begins where the one behind it does, and has nothing.
  recordio::ChunkFinder finder;
  const auto ask = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20000; ++i) {
      const std::size_t begin = random() % of_record.size(), end = begin + random() % (of_record.size() + 1 - begin);
      for (std::size_t record = begin; record < end; ++record) {
        ASSERT_EQ(finder.find(chunks, static_cast<std::int64_t>(record)), of_record[record]) << "record " << record;
      }
    }
  };
  std::thread other([&] { ask(1); });
  ask(2);
  other.join();
}

}  // namespace
}  // namespace tandem::chunk_finder_test
