// What SWIG's front ends make of the program's own samples, with a language that takes no more threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>

#include "tandem/abi.hpp"

namespace tandem_swig {
namespace {

std::atomic<bool> refuses{false};

// The language's runtime: jni_upcall.h has Java's.
class Entry {
 public:
  Entry() {
    if (refuses) throw tandem::abi::Error(TDM_ERROR_CLOSED, "callback", "the language takes no more threads");
  }
  explicit Entry(std::nothrow_t) noexcept : inside_(!refuses) {}
  explicit operator bool() const noexcept { return inside_; }

 private:
  bool inside_ = true;
};

}  // namespace
}  // namespace tandem_swig

#include "own_data.h"

namespace tandem_swig {
namespace {

std::atomic<int> alive{0};

class Numbers : public SampleSource {
 public:
  Numbers() { ++alive; }
  ~Numbers() override { --alive; }
  Sample get(int64_t index) override {
    Sample sample;
    sample.tensors.push_back(tandem::abi::Tensor::from_data(&index, sizeof index, TDM_DTYPE_INT64, {}));
    return sample;
  }
};

class Same : public SampleMapper {
 public:
  Same() { ++alive; }
  ~Same() override { --alive; }
  Sample map(Sample sample) override { return sample; }
};

class OwnData : public ::testing::Test {
 protected:
  void TearDown() override { refuses = false; }
};

TEST_F(OwnData, TheProgramsObjectsGoWithTheirDataSet) {
  {
    const auto samples = dataset_of_samples({"i"}, 3, 0, new Numbers);
    const auto mapped = mapped_dataset(samples, {"i"}, new Same);
    EXPECT_EQ(mapped.get(2).at(0).item_int64(), 2);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(OwnData, ALanguageThatTakesNoMoreThreadsKeepsThemAndTheProgramGoesOn) {
  auto* numbers = new Numbers;
  auto* same = new Same;
  {
    const auto samples = dataset_of_samples({"i"}, 3, 0, numbers);
    const auto mapped = mapped_dataset(samples, {"i"}, same);
    refuses = true;
    EXPECT_THROW(mapped.get(0), tandem::abi::Error);
  }
  EXPECT_EQ(alive, 2);
  delete numbers;
  delete same;
}

}  // namespace
}  // namespace tandem_swig
