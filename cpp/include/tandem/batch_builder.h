// Records to a batch, decoded straight into the batch's tensors.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tandem/batch.h"
#include "tandem/collate.h"
#include "tandem/export.h"
#include "tandem/sample_schema.h"

namespace tandem {

// How fields of varying size become one tensor; those that are not named are padded with zeros.
struct CollateOptions {
  std::map<std::string, PadOptions> pad;
  std::map<std::string, PackOptions> pack;
};

// The names of a batch's tensors. Throws as the constructor of BatchBuilder.
TANDEM_API std::vector<std::string> collated_names(const SampleDecoder& decoder, const CollateOptions& options);

// One batch that is being filled. Fields of fixed size are decoded into their places; those that vary wait for
// finish(), which pads or packs them and adds fields: NAME_lengths beside a field whose dimension 0 varies, and
// NAME_segment_ids, NAME_positions and NAME_cu_seqlens beside one that is packed.
//
// Usage:
//   BatchBuilder builder(*decoder, 32, {});
//   for (std::int64_t i = 0; i < 32; ++i) builder.set(i, record(i), sample_randomness(seed, epoch, sample(i)));
//   Batch batch = builder.finish();
//
// Any number of threads may set() different samples. The decoder must outlive it.
class TANDEM_API BatchBuilder {
 public:
  // Of `rows` rows (0: as many as samples), of which those behind the samples are blank: zeros, or what their field is
  // padded with. Throws Error(kInvalidArgument) for options that name no field of the decoder, or one of fixed size.
  BatchBuilder(SampleDecoder& decoder, std::int64_t size, const CollateOptions& options = {}, std::int64_t rows = 0);
  ~BatchBuilder();
  BatchBuilder(const BatchBuilder&) = delete;
  BatchBuilder& operator=(const BatchBuilder&) = delete;

  // Decodes sample i. The record may go afterwards. Errors: those of SampleDecoder::decode().
  void set(std::int64_t i, std::span<const std::uint8_t> record, std::uint64_t randomness);
  // Once, when all are set, else Error(kInvalidArgument). Errors: those of collate.h, naming the field.
  Batch finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem
