// Samples that cannot be read at first, in loaders of a program's own data.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "cpp/data/expect_error.h"
#include "tandem/dataset.h"
#include "tandem/iterable_dataset.h"
#include "tandem/loader.h"

namespace tandem::loader_retry_test {
namespace {

using namespace std::chrono_literals;

LoaderOptions in_order(std::int64_t batch_size, int threads) {
  LoaderOptions options;
  options.batch_size = batch_size;
  options.threads = threads;
  options.shuffle = false;
  return options;
}

// One thread's success says nothing of what another one waits for.
TEST(LoaderRetry, NamesWhatIsStillTriedAgain) {
  class TwoFail : public Dataset {
   public:
    std::int64_t size() const override { return 2; }
    std::vector<at::Tensor> get(std::int64_t index) override {
      if (index == 0) {
        if (!back) {
          ++failed;
          throw Error(ErrorCode::kIo, "the first is away");
        }
      } else if (++asked == 1) {
        throw Error(ErrorCode::kIo, "the second is away");
      } else {
        while (failed < 5 && !back) std::this_thread::sleep_for(1ms);  // behind which the other pauses for 1.6 s
        std::this_thread::sleep_for(50ms);
      }
      return {at::scalar_tensor(index)};
    }
    std::atomic<int> failed = 0, asked = 0;
    std::atomic<bool> back = false;
  };
  const auto data = std::make_shared<TwoFail>();
  LoaderOptions options = in_order(1, 2);
  options.timeout = 2200ms;  // the fifth attempt is 1.5 s after the first, the sixth 3.1 s
  DataLoader loader(data, options);
  EXPECT_ERROR(loader.next(), ErrorCode::kTimeout, "tries again after", "the first is away");
  data->back = true;
}

TEST(LoaderRetry, OfAStreamGoesOnWhereItFailed) {
  class Fails : public IterableDataset {
   public:
    std::int64_t size() const override { return 16; }
    std::unique_ptr<SampleStream> stream(std::uint64_t, std::int64_t) override {
      return std::make_unique<Numbers>(failures);
    }

   private:
    class Numbers : public SampleStream {
     public:
      explicit Numbers(std::atomic<int>& failures) : failures_(failures) {}
      std::optional<std::vector<at::Tensor>> next() override {
        if (at_ == 5 && failures_++ < 2) throw Error(ErrorCode::kIo, "away");
        if (at_ == 16) return std::nullopt;
        return std::vector{at::scalar_tensor(at_++, at::kLong)};
      }

     private:
      std::atomic<int>& failures_;
      std::int64_t at_ = 0;
    };
    std::atomic<int> failures = 0;
  };
  for (const int threads : {0, 2}) {
    DataLoader loader(std::make_shared<Fails>(), in_order(4, threads));
    std::vector<std::int64_t> seen;
    while (auto batch = loader.next()) {
      const at::Tensor ids = batch->tensors[0].contiguous();
      seen.insert(seen.end(), ids.const_data_ptr<std::int64_t>(), ids.const_data_ptr<std::int64_t>() + ids.numel());
    }
    std::vector<std::int64_t> all(16);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all) << threads;
  }
}

}  // namespace
}  // namespace tandem::loader_retry_test
