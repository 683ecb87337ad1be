// What tests of outages share: a server of numbered records, of which nothing is kept, and loaders of them.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cpp/data/file_server.h"
#include "cpp/data/temp_dir.h"
#include "tandem/loader.h"
#include "tandem/open_records.h"
#include "tandem/recordio.h"

namespace tandem::outage {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::int64_t kCount = 24, kBytes = 1 << 20;  // six blocks
inline const std::vector<RecordField> kFields = {{"id", at::kInt, {}, at::kLong},
                                                 {"rest", at::kByte, {kBytes - 4}, at::kByte}};

inline void write_numbered(const std::string& path, std::int32_t first) {
  RecordIOWriterOptions options;
  options.version = 2;
  options.chunk_bytes = 1;  // a chunk each
  RecordIOWriter writer(path, options);
  for (std::int32_t i = first; i < first + kCount; ++i) {
    std::string record(kBytes, static_cast<char>(i));
    std::memcpy(record.data(), &i, sizeof i);
    writer.write(record.data(), record.size());
  }
  writer.close();
}

class Outage : public testing::Test {
 protected:
  Outage() : server_(content()) {}

  std::vector<std::uint8_t> content() const {
    write_numbered(dir_ / "file", 0);
    return test::read_file(dir_ / "file");
  }
  // Which keeps one block, so that nearly each sample is fetched, and tries each request once.
  OpenRecordsOptions remote() const {
    OpenRecordsOptions options;
    options.cache_bytes = 1;
    options.remote.cache_bytes = 0;
    options.remote.attempts = 1;
    return options;
  }
  std::shared_ptr<Dataset> dataset() const { return dataset(remote()); }
  std::shared_ptr<Dataset> dataset(const OpenRecordsOptions& options) const {
    return record_dataset(std::shared_ptr<RecordSource>(open_records({server_.url()}, options)), kFields);
  }
  // For so long, from now on.
  std::jthread away(milliseconds time) {
    server_.go_down();
    return std::jthread([this, time] {
      std::this_thread::sleep_for(time);
      server_.come_back();
    });
  }
  template <typename Loader>
  static std::multiset<std::int64_t> ids_of(Loader& loader, const LoadedBatch& batch) {
    static_cast<void>(loader);
    const at::Tensor ids = batch["id"].contiguous();
    EXPECT_EQ(ids.numel(), batch.local_count);
    const auto* first = ids.const_data_ptr<std::int64_t>();
    return {first, first + ids.numel()};
  }

  const test::TempDir dir_;
  test::FileServer server_;
};

inline std::multiset<std::int64_t> all_ids(std::int64_t count = kCount) {
  std::multiset<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.insert(i);
  return ids;
}

inline LoaderOptions options_of(std::int64_t batch_size, int threads = 2) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.threads = threads;
  options.timeout = 60s;
  return options;
}

}  // namespace tandem::outage
