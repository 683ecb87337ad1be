// Feeds damaged records and schemas to the decoders of samples: whatever comes, the answer is tensors or a
// tandem::Error, in bounded memory.
//
//   fuzz_records SECONDS SEED
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <ATen/ATen.h>

#include <msgpack/pack.hpp>
#include <msgpack/sbuffer.hpp>
#include <msgpack/type.hpp>
#include <protozero/pbf_writer.hpp>

#include "fuzz/mutator.h"
#include "tandem/batch_builder.h"
#include "tandem/error.h"

namespace {

using Bytes = tandem::test::FileBytes;
using Clock = std::chrono::steady_clock;

constexpr const char* kFields =
    R"([{"name": "id", "dtype": "int64"}, {"name": "tokens", "dtype": "int32", "shape": [-1]},
    {"name": "matrix", "dtype": "float32", "shape": [2, 2]}, {"name": "rows", "dtype": "float64", "shape": [-1, 2]},
    {"name": "raw", "dtype": "int16", "shape": [3]}, {"name": "text", "kind": "bytes"}])";

std::string schema_of(const char* format) {
  return std::string(R"({"format": ")") + format + R"(", "fields": )" + kFields + "}";
}

constexpr const char* kFixed = R"({"format": "fixed", "fields": [{"name": "id", "dtype": "int64"},
    {"name": "raw", "dtype": "int16", "shape": [3]}, {"name": "rest", "dtype": "float32", "shape": [-1, 2]}]})";

constexpr const char* kCsv =
    R"({"format": "csv", "separator": ";", "columns": ["text", "other", "matrix", "id", "rows"],
    "fields": [{"name": "id", "dtype": "int64"}, {"name": "text", "kind": "bytes"},
    {"name": "matrix", "dtype": "float32", "shape": [2, 2]}, {"name": "rows", "dtype": "int16", "shape": [-1, 2]}]})";

Bytes text(std::string_view text) {
  return Bytes(text.begin(), text.end());
}

Bytes json_record(bool named) {
  return text(named ? R"({"id": 123456789012, "tokens": [1, 2, 70000, -5], "other": {"x": [1, null], "y": "\u00fc\n"},
      "matrix": [[1, 2], [3, 4.5e0]], "rows": [[1, 2], [3, 4]], "raw": [1, -2, true], "text": "some\ttext"})"
                    : R"([-1, [], [1e3, 2, 3, 4], [1, 2], [1, 2, 3], ""])");
}

Bytes msgpack_record(bool named) {
  msgpack::sbuffer buffer;
  msgpack::packer<msgpack::sbuffer> p(buffer);
  const auto name = [&](const char* text) {
    if (named) p.pack(text);
  };
  named ? p.pack_map(7) : p.pack_array(6);
  name("id");
  p.pack(123456789012);
  name("tokens");
  p.pack(std::vector<int>{1, 2, 70000, -5});
  if (named) {
    p.pack("other");
    p.pack(std::map<std::string, std::vector<double>>{{"x", {1, 2}}});
  }
  name("matrix");
  p.pack(std::vector<std::vector<double>>{{1, 2}, {3, 4.5}});
  name("rows");
  p.pack(std::vector<double>{1, 2, 3, 4});
  name("raw");
  p.pack_bin(6);
  p.pack_bin_body("abcdef", 6);
  name("text");
  p.pack("some text");
  return Bytes(buffer.data(), buffer.data() + buffer.size());
}

Bytes example_record(bool packed) {
  std::string record;
  {
    protozero::pbf_writer example(record);
    protozero::pbf_writer features(example, 1);
    const auto add = [&](const char* name, unsigned kind, const std::vector<double>& values, const char* bytes) {
      protozero::pbf_writer entry(features, 1);
      entry.add_string(1, name);
      protozero::pbf_writer feature(entry, 2);
      protozero::pbf_writer list(feature, kind);
      if (kind == 1) return list.add_bytes(1, bytes);
      const std::vector<float> floats(values.begin(), values.end());
      const std::vector<std::int64_t> integers(values.begin(), values.end());
      if (packed) {
        kind == 2 ? list.add_packed_float(1, floats.begin(), floats.end())
                  : list.add_packed_int64(1, integers.begin(), integers.end());
      } else {
        for (std::size_t i = 0; i < values.size(); ++i) {
          kind == 2 ? list.add_float(1, floats[i]) : list.add_int64(1, integers[i]);
        }
      }
    };
    add("id", 3, {-7}, "");
    add("tokens", 3, {1, 2, 70000}, "");
    add("matrix", 2, {1, 2, 3, 4}, "");
    add("rows", 2, {1, 2, 3, 4}, "");
    add("raw", 1, {}, "abcdef");
    add("text", 1, {}, "some text");
  }
  return Bytes(record.begin(), record.end());
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : mutator_(seed) {
    add(schema_of("msgpack"), {msgpack_record(true), msgpack_record(false)});
    add(schema_of("tf.train.Example"), {example_record(true), example_record(false)});
    add(schema_of("json"), {json_record(true), json_record(false)});
    add(kCsv, {text("some text;x;1;2.5; 3;-4e0;123456789012;1;2;3;4"), text("\"a \"\"b\"\";\n\";\"\";1;2;3;4;-5")});
    add(kFixed, {Bytes(8 + 6 + 8), Bytes(8 + 6 + 80, 0x3f)});
  }

  void run(double seconds) {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      for (Kind& kind : kinds_) {
        for (int i = 0; i < 20; ++i) fuzz_record(kind);
      }
      for (int i = 0; i < 20; ++i) fuzz_schema();  // few mutants are good ones: some are, on a slow machine too
    }
    bool reached = taken_ > 0 && not_taken_ > 0;
    for (const Kind& kind : kinds_) {
      std::printf("%ld decoded, %ld refused; ", kind.decoded, kind.refused);
      reached = reached && kind.decoded > 0 && kind.refused > 0;
    }
    std::printf("%ld schemas taken, %ld refused\n", taken_, not_taken_);
    if (!reached) {
      std::fprintf(stderr, "the mutations reach nothing: one of the counts is zero\n");
      std::exit(1);
    }
  }

 private:
  struct Kind {
    std::unique_ptr<tandem::SampleDecoder> decoder;
    std::vector<Bytes> corpus;
    long decoded = 0, refused = 0;
  };

  void add(const std::string& schema, std::vector<Bytes> corpus) {
    kinds_.push_back({tandem::make_sample_decoder(tandem::SampleSchema::parse(schema)), std::move(corpus)});
    schemas_.emplace_back(schema.begin(), schema.end());
    for (const Bytes& record : kinds_.back().corpus) kinds_.back().decoder->decode(record);  // the corpus is good
  }

  static void expect(const tandem::Error& error, tandem::ErrorCode code) {
    if (error.code() == code) return;
    std::fprintf(stderr, "unexpected kind of error: %s\n", error.what());
    std::exit(1);
  }

  void fuzz_record(Kind& kind) {
    const Bytes mutant = mutator_.mutant(kind.corpus);
    // Of exactly this size, so that a sanitizer sees what reads past its end.
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[mutant.size()]);
    std::copy(mutant.begin(), mutant.end(), bytes.get());
    try {
      tandem::BatchBuilder builder(*kind.decoder, 1);
      builder.set(0, {bytes.get(), mutant.size()}, 0);
      const tandem::Batch batch = builder.finish();
      for (const at::Tensor& tensor : batch.tensors) {
        if (tensor.nbytes() > 64 * (mutant.size() + 64)) {
          std::fprintf(stderr, "a record of %zu bytes became %zu\n", mutant.size(), tensor.nbytes());
          std::exit(1);
        }
      }
      ++kind.decoded;
    } catch (const tandem::Error& error) {
      expect(error, tandem::ErrorCode::kDataLoss);
      ++kind.refused;
    }
  }

  void fuzz_schema() {
    const Bytes mutant = mutator_.mutant(schemas_);
    try {
      const auto schema = tandem::SampleSchema::parse({reinterpret_cast<const char*>(mutant.data()), mutant.size()});
      tandem::SampleSchema::parse(schema.to_json());
      ++taken_;
    } catch (const tandem::Error& error) {
      expect(error, tandem::ErrorCode::kInvalidArgument);
      ++not_taken_;
    }
  }

  tandem::test::Mutator mutator_;
  std::vector<Kind> kinds_;
  std::vector<Bytes> schemas_;
  long taken_ = 0, not_taken_ = 0;  // schemas
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_records SECONDS SEED\n");
    return 1;
  }
  at::set_num_threads(1);
  Fuzzer fuzzer(static_cast<unsigned>(std::atoi(argv[2])));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // LibTorch is mapped already; a length that is believed shows as bad_alloc.
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t most = pages * 4096 + (512u << 20);
  const rlimit memory{most, most};
  setrlimit(RLIMIT_AS, &memory);
#endif
  fuzzer.run(std::atof(argv[1]));
}
