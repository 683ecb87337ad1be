// What the records of a data set hold, and records to tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/dataset.h"
#include "tandem/export.h"
#include "tandem/image_fit.h"

namespace tandem {

enum class SampleFormat {
  // Fields one after another, numbers in little-endian order. The last field may vary: it takes the rest of the record.
  kFixed,
  // A MessagePack map from names to values, or an array of values in the schema's order (https://msgpack.org).
  kMsgpack,
  // A protocol buffer tf.train.Example, as TFRecord files mostly hold.
  kTfExample,
  // A JSON object from names to values, or an array of values in the schema's order: a line of an NDJSON file.
  kJson,
  // A line of CSV (RFC 4180). A field takes a column, numbers with a shape one for each element. The last field may
  // vary: it takes the rest of the columns.
  kCsv,
};

enum class FieldKind {
  kNumbers,  // of dtype: a scalar, or an array; in msgpack and tf.train.Example also raw little-endian bytes of it
  kBytes,    // a string or other bytes, uint8 [-1]
  kImage,    // JPEG or PNG, uint8 [C, H, W] or [H, W, C]; not in json and csv, which are text
};

// dtype and shape are those of the tensor. −1 in a shape is a size that varies; of kNumbers only the first may.
struct TANDEM_API SchemaField {
  std::string name;
  FieldKind kind = FieldKind::kNumbers;
  at::ScalarType dtype = at::kByte;
  std::vector<std::int64_t> shape;
  ImageMode mode = ImageMode::kRGB;  // of kImage
  ImageLayout layout = ImageLayout::kCHW;

  bool varies() const;
};

// As JSON, which RecordIO v2 carries (RecordIOMetadata::schema):
//   {"format": "msgpack",                                   fixed, msgpack, tf.train.Example, json or csv
//    "fields": [{"name": "label", "dtype": "int64"},        without shape: a scalar
//               {"name": "tokens", "dtype": "int32", "shape": [-1]},
//               {"name": "caption", "kind": "bytes"},
//               {"name": "picture", "kind": "image", "mode": "RGB", "layout": "CHW", "shape": [3, 256, 256]}]}
// Dtypes have PyTorch's names: bool, uint8 … uint64, int8 … int64, float16, bfloat16, float32, float64. A picture's
// mode is RGB, gray or unchanged, and its shape may be left out.
//
// Of csv, where records have columns that no field is of, or another order:
//   {"format": "csv", "separator": ",",                     or ; | and a tab
//    "columns": ["id", "x", "y", "label"],                  from the first; columns that no field is called are skipped
//    "fields": [{"name": "label", "dtype": "int64"}, {"name": "y", "dtype": "float32"}]}
struct TANDEM_API SampleSchema {
  SampleFormat format = SampleFormat::kFixed;
  std::vector<SchemaField> fields;
  std::vector<std::string> columns;  // of kCsv; empty: the fields in their order
  char separator = ',';              // of kCsv

  // Throws Error(kInvalidArgument) that names the field and what is wrong with it; unknown keys are refused too.
  static SampleSchema parse(std::string_view json);
  std::string to_json() const;
  // Throws as parse() does.
  void check() const;
  // For record_dataset(), which copies fields of fixed layout without looking at them: each field's out_dtype is its
  // dtype. Throws Error(kInvalidArgument) naming the field that has no fixed layout.
  std::vector<RecordField> record_fields() const;
};

struct SampleDecoderOptions {
  // Pictures of these fields are made one size as they are decoded.
  std::map<std::string, ImageFit> fits;
  std::int64_t max_pixels = ImageDecodeOptions().max_pixels;
  bool strict = false;  // ImageDecodeOptions::strict
};

// Records of a schema to tensors. Thread-safe: any number of threads may decode with one.
class TANDEM_API SampleDecoder {
 public:
  virtual ~SampleDecoder() = default;
  // As they come out of decode(): pictures that are fitted have the fit's size.
  virtual const std::vector<SchemaField>& fields() const = 0;
  // One tensor per field. Where out[i] is a tensor, a place in a batch for example, of the field's dtype and shape, it
  // is filled; otherwise it becomes one, which may be a view of `record`: not to be written to, and gone with it.
  // `randomness` is what random fits depend on (sample_random.h).
  // Errors name the field: Error(kDataLoss) for records that are not what the schema says, whatever is in them, and
  // kInvalidArgument for a place that has another dtype or shape than what it is for.
  virtual void decode(std::span<const std::uint8_t> record, std::uint64_t randomness, std::span<at::Tensor> out) = 0;

  std::vector<at::Tensor> decode(std::span<const std::uint8_t> record, std::uint64_t randomness = 0);
};

// Throws Error(kInvalidArgument) for schemas and options.
TANDEM_API std::unique_ptr<SampleDecoder> make_sample_decoder(const SampleSchema& schema,
                                                              const SampleDecoderOptions& options = {});

}  // namespace tandem
