#include "core/data/record_files.h"

#include "core/call/guard.h"
#include "core/call/options.h"

namespace tandem::capi {

OpenRecordsOptions read_open_records_options(const tdm_open_records_options* options) {
  const auto given =
      read_options(options, tdm_open_records_options TDM_OPEN_RECORDS_OPTIONS_INIT, "tdm_open_records_options");
  OpenRecordsOptions chosen;
  if (given.format) chosen.format = record_format(given.format);
  chosen.skip = given.skip;
  chosen.index = given.use_index != 0;
  chosen.cache_bytes = given.cache_bytes;
  chosen.remote.attempts = given.attempts;
  if (given.cache_folder) chosen.remote.cache_folder = given.cache_folder;
  if (given.cache_folder_bytes < -1) {
    invalid("options->cache_folder_bytes is " + std::to_string(given.cache_folder_bytes) + ", but must be at least -1");
  }
  if (given.cache_folder_bytes >= 0) {
    chosen.remote.cache_bytes = static_cast<std::uint64_t>(given.cache_folder_bytes);
  }
  if (given.s3_endpoint) chosen.remote.s3_endpoint = given.s3_endpoint;
  if (given.s3_region) chosen.remote.s3_region = given.s3_region;
  chosen.remote.connect_timeout = std::chrono::milliseconds(given.connect_timeout_ms);
  chosen.remote.stall_timeout = std::chrono::milliseconds(given.stall_timeout_ms);
  if (given.most_chunk_bytes != 0) chosen.most_chunk_bytes = given.most_chunk_bytes;
  if (given.least_speed != 0) chosen.remote.least_speed = given.least_speed;
  if (given.request_timeout_ms != 0) {
    chosen.remote.request_timeout = std::chrono::milliseconds(given.request_timeout_ms);
  }
  return chosen;
}

}  // namespace tandem::capi
