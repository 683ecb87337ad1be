// Data sets of a language's own samples: classes that its program derives from, through directors, and what makes data
// sets of such objects, which are the data set's from then on.
//
// Native threads call them, until the gate is closed: the language's runtime may end then, so what is left of these
// objects stays with it. The language defines tandem_swig::Entry, which lets a thread into its runtime while it lives.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "call_gate.h"

namespace tandem_swig {

struct Sample {
  std::vector<tandem::abi::Tensor> tensors;
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual Sample get(int64_t index) = 0;
};

class SampleMapper {
 public:
  virtual ~SampleMapper() = default;
  virtual Sample map(Sample sample) = 0;
};

class OpenStream {
 public:
  virtual ~OpenStream() = default;
  // Without tensors at the end.
  virtual Sample next() = 0;
  virtual int64_t skip(int64_t count) = 0;
  virtual void close() = 0;
};

class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // The stream is the caller's.
  virtual OpenStream* open(uint64_t seed, int64_t epoch) = 0;
};

#ifndef SWIG

template <typename Body>
auto enter(Body&& body) {
  if (gate().closed.load()) {
    throw tandem::abi::Error(TDM_ERROR_CLOSED, "callback", "Tandem was shut down before this call of the program");
  }
  const Entry entry;
  return body();
}

struct Release {
  template <typename T>
  void operator()(T* object) const {
    if (gate().closed.load()) return;
    const Entry entry(std::nothrow);  // a destructor calls this
    if (entry) delete object;         // else the language ends, or has no memory: the object stays
  }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

class OwnSamples : public tandem::abi::Samples {
 public:
  OwnSamples(int64_t size, uint64_t fingerprint, Owned<SampleSource> source)
      : size_(size), fingerprint_(fingerprint), source_(std::move(source)) {}
  int64_t size() const override { return size_; }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<tandem::abi::Tensor> get(int64_t index) override {
    return enter([&] { return source_->get(index).tensors; });
  }

 private:
  const int64_t size_;
  const uint64_t fingerprint_;
  const Owned<SampleSource> source_;
};

class OwnStream : public tandem::abi::SampleStream {
 public:
  explicit OwnStream(Owned<OpenStream> stream) : stream_(std::move(stream)) {}
  ~OwnStream() override {
    try {
      enter([&] { stream_->close(); });
    } catch (...) {
      // Nobody is there to be told.
    }
  }
  std::optional<std::vector<tandem::abi::Tensor>> next() override {
    auto sample = enter([&] { return stream_->next().tensors; });
    if (sample.empty()) return std::nullopt;
    return sample;
  }
  int64_t skip(int64_t count) override {
    return enter([&] { return stream_->skip(count); });
  }

 private:
  const Owned<OpenStream> stream_;
};

class OwnStreams : public tandem::abi::IterableSamples {
 public:
  OwnStreams(int64_t size, uint64_t fingerprint, Owned<StreamSource> source)
      : size_(size), fingerprint_(fingerprint), source_(std::move(source)) {}
  int64_t size() const override { return size_; }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::unique_ptr<tandem::abi::SampleStream> open(uint64_t seed, int64_t epoch) override {
    Owned<OpenStream> stream(enter([&] { return source_->open(seed, epoch); }));
    return stream ? std::make_unique<OwnStream>(std::move(stream)) : nullptr;
  }

 private:
  const int64_t size_;
  const uint64_t fingerprint_;
  const Owned<StreamSource> source_;
};

#endif

inline tandem::abi::Dataset dataset_of_samples(const std::vector<std::string>& names, int64_t size,
                                               uint64_t fingerprint, SampleSource* source) {
  Owned<SampleSource> owned(source);
  return tandem::abi::from_samples(std::make_unique<OwnSamples>(size, fingerprint, std::move(owned)), names);
}

// size -1: unknown.
inline tandem::abi::Dataset dataset_of_streams(const std::vector<std::string>& names, int64_t size,
                                               uint64_t fingerprint, StreamSource* source) {
  Owned<StreamSource> owned(source);
  return tandem::abi::from_iterable(std::make_unique<OwnStreams>(size, fingerprint, std::move(owned)), names);
}

inline tandem::abi::Dataset mapped_dataset(const tandem::abi::Dataset& base, const std::vector<std::string>& names,
                                           SampleMapper* mapper) {
  const std::shared_ptr<SampleMapper> owned(mapper, Release());
  return tandem::abi::map_samples(
      base,
      [owned](std::vector<tandem::abi::Tensor> sample) {
        return enter([&] { return owned->map({std::move(sample)}).tensors; });
      },
      names);
}

}  // namespace tandem_swig
