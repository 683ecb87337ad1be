// Data sets and samplers that are functions of the caller's.
#include <algorithm>

#include "core/call/callback.h"
#include "core/call/options.h"
#include "core/call/strings.h"
#include "core/data/dataset_handle.h"
#include "core/data/sampler_handle.h"
#include "core/handles/handles.h"
#include "tandem/derived_datasets.h"
#include "tandem/samplers.h"

using namespace tandem::capi;

namespace {

using Get = tdm_error* (*)(void* user_data, int64_t index, tdm_tensor** sample, size_t field_count);
using Map = tdm_error* (*)(void* user_data, tdm_tensor* const* sample, size_t count, tdm_tensor** mapped,
                           size_t field_count);
using List = tdm_error* (*)(void* user_data, uint64_t seed, int64_t epoch, int64_t first, int64_t* samples,
                            size_t count);

// run_callback() of what reads samples: that they cannot be read now, or that there is no memory, stays told from what
// is wrong with them, since loaders try the one again, or skip it, and count only the last against the sample.
template <typename Call, typename After>
void read_by_callback(const char* name, Call&& call, After&& after) {
  try {
    run_callback(name, std::forward<Call>(call), std::forward<After>(after));
  } catch (const CallbackError& error) {
    const tandem::ErrorCode code = error.given_code();
    if (code != tandem::ErrorCode::kIo && code != tandem::ErrorCode::kTimeout &&
        code != tandem::ErrorCode::kOutOfMemory) {
      throw;
    }
    std::throw_with_nested(tandem::Error(code, error.what()));
  }
}

// The tensors that a callback set, which must all be there.
std::vector<at::Tensor> take(const std::vector<tdm_tensor*>& given, const char* callback) {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      throw tandem::Error(tandem::ErrorCode::kCallback, std::string(callback) + " set no tensor " + std::to_string(i) +
                                                            " of a sample's " + std::to_string(given.size()));
    }
    tensors.push_back(unwrap(given[i], "sample"));
  }
  return tensors;
}

class CallersDataset : public tandem::Dataset {
 public:
  CallersDataset(std::int64_t size, std::vector<std::string> names, std::uint64_t fingerprint, Get get,
                 std::shared_ptr<Callback> callback)
      : size_(size), names_(std::move(names)), fingerprint_(fingerprint), get_(get), callback_(std::move(callback)) {}

  std::int64_t size() const override { return size_; }
  std::vector<std::string> names() const override { return names_; }
  std::uint64_t fingerprint() const override { return fingerprint_ ? fingerprint_ : Dataset::fingerprint(); }

  std::vector<at::Tensor> get(std::int64_t index) override {
    std::vector<tdm_tensor*> given(names_.size());
    std::vector<at::Tensor> sample;
    constexpr const char* kName = "a data set's get";
    read_by_callback(
        kName, [&] { return get_(callback_->user_data(), index, given.data(), given.size()); },
        [&] { sample = take(given, kName); });
    return sample;
  }

 private:
  const std::int64_t size_;
  const std::vector<std::string> names_;
  const std::uint64_t fingerprint_;
  const Get get_;
  const std::shared_ptr<Callback> callback_;
};

tandem::SampleMap callers_map(Map map, std::size_t fields, std::shared_ptr<Callback> callback) {
  return [map, fields, callback = std::move(callback)](std::vector<at::Tensor> sample) {
    std::vector<tdm_tensor*> mapped(fields);
    std::vector<at::Tensor> result;
    constexpr const char* kName = "a data set's map";
    read_by_callback(
        kName,
        [&] {
          const auto handles = make_optional_handles(sample);
          return map(callback->user_data(), handles.data(), handles.size(), mapped.data(), mapped.size());
        },
        [&] { result = take(mapped, kName); });
    return result;
  };
}

class CallersIterable : public tandem::IterableDataset {
 public:
  CallersIterable(const tdm_iterable& given, std::vector<std::string> names, std::shared_ptr<Callback> callback)
      : given_(given), names_(std::move(names)), callback_(std::move(callback)) {}

  std::int64_t size() const override { return given_.size; }
  std::vector<std::string> names() const override { return names_; }
  std::uint64_t fingerprint() const override {
    return given_.fingerprint ? given_.fingerprint : IterableDataset::fingerprint();
  }
  std::unique_ptr<tandem::SampleStream> stream(std::uint64_t seed, std::int64_t epoch) override {
    void* opened = nullptr;
    std::unique_ptr<tandem::SampleStream> made;
    read_by_callback(
        "a data set's open", [&] { return given_.open(callback_->user_data(), seed, epoch, &opened); },
        [&] { made = std::make_unique<Stream>(given_, names_.size(), callback_, opened); });
    return made;
  }

 private:
  class Stream : public tandem::SampleStream {
   public:
    Stream(const tdm_iterable& given, std::size_t fields, std::shared_ptr<Callback> callback, void* opened)
        : given_(given), fields_(fields), callback_(std::move(callback)), opened_(opened) {}
    ~Stream() override {
      if (tandem::process_exits.load(std::memory_order_relaxed)) return;
      const CallbackState state("a stream's close");
      try {
        given_.close(callback_->user_data(), opened_);
      } catch (...) {
        // A C++ program's; nobody is there to be told.
      }
    }

    std::optional<std::vector<at::Tensor>> next() override {
      std::vector<tdm_tensor*> given(fields_);
      std::int32_t has = 0;
      std::optional<std::vector<at::Tensor>> sample;
      constexpr const char* kName = "a stream's next";
      read_by_callback(
          kName, [&] { return given_.next(callback_->user_data(), opened_, given.data(), given.size(), &has); },
          [&] {
            if (has != 0) sample = take(given, kName);
          });
      return sample;
    }
    std::int64_t skip(std::int64_t count) override {
      if (!given_.skip) return SampleStream::skip(count);
      std::int64_t skipped = 0;
      read_by_callback(
          "a stream's skip", [&] { return given_.skip(callback_->user_data(), opened_, count, &skipped); }, [] {});
      return skipped;
    }

   private:
    const tdm_iterable given_;
    const std::size_t fields_;
    const std::shared_ptr<Callback> callback_;
    void* const opened_;
  };

  const tdm_iterable given_;
  const std::vector<std::string> names_;
  const std::shared_ptr<Callback> callback_;
};

class CallersOrder : public tandem::SampleOrder {
 public:
  CallersOrder(std::string name, std::int64_t size, List list, std::shared_ptr<Callback> callback)
      : name_(std::move(name)), size_(size), list_(list), callback_(std::move(callback)) {}

  std::int64_t size() const override { return size_; }
  std::string name() const override { return name_; }
  void samples(std::uint64_t seed, std::int64_t epoch, std::int64_t first, std::span<std::int64_t> out) const override {
    std::fill(out.begin(), out.end(), -1);
    run_callback(
        "a sampler", "the sampler '" + name_ + "'",
        [&] { return list_(callback_->user_data(), seed, epoch, first, out.data(), out.size()); }, [] {});
  }

 private:
  const std::string name_;
  const std::int64_t size_;
  const List list_;
  const std::shared_ptr<Callback> callback_;
};

std::vector<std::string> read_names(const char* const* names, std::size_t count) {
  auto texts = to_strings(names, count, "names");
  if (texts.empty()) invalid("argument 'names' is empty; a sample has at least one tensor, and each has a name");
  return texts;
}

}  // namespace

tdm_error* tdm_dataset_create(int64_t size, const char* const* names, size_t field_count, uint64_t fingerprint, Get get,
                              void* user_data, void (*destroy)(void* user_data), tdm_dataset** out) {
  return guard("tdm_dataset_create", [&] {
    auto texts = read_names(names, field_count);
    not_null(get, "get");
    not_null(out, "out");
    if (size < 0) invalid("argument 'size' is " + std::to_string(size) + ", but must not be negative");
    const auto callback = std::make_shared<Callback>(user_data);
    *out = new tdm_dataset(std::make_shared<CallersDataset>(size, std::move(texts), fingerprint, get, callback));
    callback->adopt(destroy);
  });
}

tdm_error* tdm_dataset_map(const tdm_dataset* dataset, const char* const* names, size_t field_count, Map map,
                           void* user_data, void (*destroy)(void* user_data), tdm_dataset** out) {
  return guard("tdm_dataset_map", [&] {
    const auto& base = samples_of(dataset, "dataset");
    auto texts = read_names(names, field_count);
    not_null(map, "map");
    not_null(out, "out");
    const auto callback = std::make_shared<Callback>(user_data);
    *out = new tdm_dataset(tandem::map_dataset(base, callers_map(map, field_count, callback), std::move(texts)));
    callback->adopt(destroy);
  });
}

tdm_error* tdm_dataset_from_iterable(const tdm_iterable* iterable, tdm_dataset** out) {
  return guard("tdm_dataset_from_iterable", [&] {
    not_null(iterable, "iterable");
    not_null(out, "out");
    const auto given = read_options<tdm_iterable>(iterable, TDM_ITERABLE_INIT, "tdm_iterable");
    not_null(given.open, "iterable->open");
    not_null(given.next, "iterable->next");
    not_null(given.close, "iterable->close");
    auto texts = read_names(given.names, given.field_count);
    if (given.size < -1) invalid("iterable->size is " + std::to_string(given.size) + ", but must be at least -1");
    const auto callback = std::make_shared<Callback>(given.user_data);
    *out = new tdm_dataset(std::make_shared<CallersIterable>(given, std::move(texts), callback));
    callback->adopt(given.destroy);
  });
}

tdm_error* tdm_sampler_create(const char* name, int64_t positions, int32_t by_epoch, List list, void* user_data,
                              void (*destroy)(void* user_data), tdm_sampler** out) {
  return guard("tdm_sampler_create", [&] {
    not_null(name, "name");
    check_utf8(name, "name");
    not_null(list, "list");
    not_null(out, "out");
    if (positions < 0) invalid("argument 'positions' is " + std::to_string(positions) + ", but must not be negative");
    const auto callback = std::make_shared<Callback>(user_data);
    std::shared_ptr<const tandem::SampleOrder> order = std::make_shared<CallersOrder>(name, positions, list, callback);
    if (by_epoch != 0) {
      order = tandem::listed_order(name, positions,
                                   [order](std::uint64_t seed, std::int64_t epoch, std::span<std::int64_t> out) {
                                     order->samples(seed, epoch, 0, out);
                                   });
    }
    *out = new tdm_sampler(std::move(order));
    callback->adopt(destroy);
  });
}
