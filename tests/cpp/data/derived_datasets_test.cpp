#include "tandem/derived_datasets.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "cpp/data/expect_error.h"
#include "tandem/loader.h"

namespace tandem::derived_datasets_test {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;
using Ids = std::vector<std::int64_t>;

// Samples [x, 10 x] for x from `first` on.
std::shared_ptr<Dataset> numbers(std::int64_t first, std::int64_t count,
                                 const std::vector<std::string>& names = {"x"}) {
  const at::Tensor x = at::arange(first, first + count, at::kLong);
  return tensor_dataset({at::stack({x, 10 * x}, 1)}, names);
}

Ids first_column(const at::Tensor& batch) {
  const at::Tensor column = batch.select(1, 0).contiguous();
  const auto* data = column.const_data_ptr<std::int64_t>();
  EXPECT_TRUE(batch.select(1, 1).equal(column * 10));
  return {data, data + column.numel()};
}

Ids all_of(Dataset& dataset) {
  Ids samples(static_cast<std::size_t>(dataset.size()));
  std::iota(samples.begin(), samples.end(), 0);
  if (samples.empty()) return {};
  return first_column(dataset.get_batch(samples, dataset.size())[0]);
}

// Fails for 5; its samples have a size of their own.
class Odd : public Dataset {
 public:
  std::int64_t size() const override { return 10; }
  std::vector<std::string> names() const override { return {"x"}; }
  std::vector<at::Tensor> get(std::int64_t i) override {
    if (i == 5) throw std::runtime_error("five");
    return {at::full({3}, i, at::kLong)};
  }
  std::string place(std::int64_t i) const override { return "line " + std::to_string(i); }
};

// Samples [i, the randomness that it was given].
class Random : public Dataset {
 public:
  std::int64_t size() const override { return 10; }
  std::vector<at::Tensor> get(std::int64_t i) override { return {at::tensor({i, std::int64_t{-1}})}; }
  std::vector<at::Tensor> get_random(std::int64_t i, std::uint64_t randomness) override {
    return {at::tensor({i, static_cast<std::int64_t>(randomness)})};
  }
  std::vector<at::Tensor> get_random_batch(std::span<const std::int64_t> samples,
                                           std::span<const std::uint64_t> randomness, std::int64_t rows) override {
    auto batch = get_batch(samples, rows);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      batch[0][static_cast<std::int64_t>(i)][1] = static_cast<std::int64_t>(randomness[i]);
    }
    return batch;
  }
};

// As augmentation needs it.
TEST(DerivedDatasets, HandOnTheRandomnessOfSamples) {
  const auto random = std::make_shared<Random>();
  const std::uint64_t numbers_of[] = {100, 101, 102};
  const auto column = [&](const std::shared_ptr<Dataset>& data, const Ids& samples, std::int64_t which) {
    const at::Tensor of = data->get_random_batch(samples, numbers_of, 3)[0].select(1, which).contiguous();
    return Ids(of.const_data_ptr<std::int64_t>(), of.const_data_ptr<std::int64_t>() + 3);
  };
  const auto subset = subset_dataset(random, {9, 8, 7});
  EXPECT_EQ(column(subset, {2, 0, 1}, 0), (Ids{7, 9, 8}));
  EXPECT_EQ(column(subset, {2, 0, 1}, 1), (Ids{100, 101, 102}));
  const auto both = concat_dataset({random, random});
  EXPECT_EQ(column(both, {12, 3, 15}, 0), (Ids{2, 3, 5}));
  EXPECT_EQ(column(both, {12, 3, 15}, 1), (Ids{100, 101, 102}));
  // A map takes single samples, here through one of each kind.
  const auto mapped = map_dataset(concat_dataset({subset, random}), [](std::vector<at::Tensor> sample) {
    sample[0] = sample[0] * 2;
    return sample;
  });
  EXPECT_EQ(column(mapped, {2, 0, 4}, 0), (Ids{14, 18, 2}));
  EXPECT_EQ(column(mapped, {2, 0, 4}, 1), (Ids{200, 202, 204}));
  EXPECT_EQ(column(map_dataset(mapped, [](auto sample) { return sample; }), {2, 0, 4}, 1), (Ids{200, 202, 204}));
  EXPECT_EQ(mapped->get_random_batch({}, {}, 2)[0].sizes(), at::IntArrayRef({2, 2}));
}

TEST(Concat, GivesPartsOneAfterTheOther) {
  const auto both = concat_dataset({numbers(0, 3), numbers(0, 0), numbers(7, 4)});
  EXPECT_EQ(both->size(), 7);
  EXPECT_EQ(both->names(), std::vector<std::string>{"x"});
  EXPECT_EQ(all_of(*both), (Ids{0, 1, 2, 7, 8, 9, 10}));
  const Ids mixed = {6, 0, 3, 2, 6};
  const auto batch = both->get_batch(mixed, 7);
  EXPECT_EQ(first_column(batch[0]), (Ids{10, 0, 7, 2, 10, 0, 0}));
  EXPECT_EQ(both->get_batch(Ids{4, 3}, 3)[0].size(0), 3);  // of one part
  EXPECT_EQ(both->get_batch(Ids{}, 0)[0].sizes(), at::IntArrayRef({0, 2}));
  EXPECT_TRUE(both->get(3)[0].equal(at::tensor({7, 70}, at::kLong)));
  EXPECT_NE(both->fingerprint(), concat_dataset({numbers(7, 4), numbers(0, 3)})->fingerprint());
}

TEST(Concat, RefusesWhatDoesNotFit) {
  EXPECT_ERROR(concat_dataset({}), kInvalid, "no data set");
  EXPECT_ERROR(concat_dataset({numbers(0, 1), nullptr}), kInvalid, "data set 1", "not there");
  EXPECT_ERROR(concat_dataset({numbers(0, 1), numbers(0, 1, {"y"})}), kInvalid, "data set 1", "other names");
  const auto both = concat_dataset({numbers(0, 2), std::make_shared<Odd>()});
  EXPECT_ERROR(both->get_batch(Ids{0, 3}, 2), kInvalid, "data set 1", "other shapes");
  EXPECT_ERROR(both->get_batch(Ids{7, 6}, 2), ErrorCode::kCallback, "cannot load line 5: five");
}

TEST(Subset, TakesSamples) {
  const auto some = subset_dataset(numbers(20, 10), {9, 0, 9});
  EXPECT_EQ(some->size(), 3);
  EXPECT_EQ(all_of(*some), (Ids{29, 20, 29}));
  EXPECT_EQ(subset_dataset(std::make_shared<Odd>(), {4, 7})->place(1), "line 7");
  EXPECT_NE(some->fingerprint(), subset_dataset(numbers(20, 10), {9, 0, 8})->fingerprint());
  EXPECT_ERROR(subset_dataset(numbers(0, 3), {0, 3}), ErrorCode::kOutOfRange, "no sample 3", "of 3");
  EXPECT_ERROR(subset_dataset(numbers(0, 3), {-1}), ErrorCode::kOutOfRange, "no sample -1");
  EXPECT_ERROR(subset_dataset(nullptr, {}), kInvalid, "no data set");
}

TEST(RandomSplit, PutsEachSampleInOnePart) {
  const auto parts = random_split(numbers(0, 50), {30, 0, 20}, 3);
  ASSERT_EQ(parts.size(), 3u);
  const Ids first = all_of(*parts[0]);
  EXPECT_EQ(first.size(), 30u);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  std::set<std::int64_t> all(first.begin(), first.end());
  for (const std::int64_t id : all_of(*parts[2])) EXPECT_TRUE(all.insert(id).second) << id;
  EXPECT_EQ(all.size(), 50u);
  EXPECT_EQ(all_of(*random_split(numbers(0, 50), {30, 20}, 3)[0]), first);
  EXPECT_NE(all_of(*random_split(numbers(0, 50), {30, 20}, 4)[0]), first);
  EXPECT_NE(parts[0]->fingerprint(), parts[2]->fingerprint());
  EXPECT_ERROR(random_split(numbers(0, 5), {3, 3}, 0), kInvalid, "6 samples together", "has 5");
  EXPECT_ERROR(random_split(numbers(0, 5), {6, -1}, 0), kInvalid, "-1");
  EXPECT_ERROR(random_split(nullptr, {}, 0), kInvalid, "no data set");
}

// As torch.utils.data.random_split's lengths.
TEST(RandomSplit, ByFractions) {
  EXPECT_EQ(split_sizes(10, {0.3, 0.3, 0.4}), (Ids{3, 3, 4}));
  EXPECT_EQ(split_sizes(10, {1 / 3., 1 / 3., 1 / 3.}), (Ids{4, 3, 3}));
  EXPECT_EQ(split_sizes(11, {0.25, 0.25, 0.5}), (Ids{3, 3, 5}));
  EXPECT_EQ(split_sizes(3, std::vector<double>(10, 0.1)), (Ids{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(split_sizes(0, {0.5, 0.5}), (Ids{0, 0}));
  EXPECT_ERROR(split_sizes(10, {0.5, 0.6}), kInvalid, "1.1", "must be 1");
  EXPECT_ERROR(split_sizes(10, {1.5, -0.5}), kInvalid, "fraction 0");
  EXPECT_ERROR(split_sizes(10, {NAN, 1}), kInvalid, "fraction 0");
  EXPECT_ERROR(split_sizes(10, {}), kInvalid, "must be 1");
}

TEST(Map, MakesEachSampleAnew) {
  const auto twice = [](std::vector<at::Tensor> sample) -> std::vector<at::Tensor> {
    return {sample[0].select(0, 0) * 2, sample[0]};
  };
  const auto mapped = map_dataset(numbers(0, 6), twice, {"twice", "x"});
  LoaderOptions options;
  options.batch_size = 4;
  options.shuffle = false;
  options.threads = 2;
  DataLoader loader(mapped, options);
  const auto batch = loader.next();
  EXPECT_TRUE((*batch)["twice"].equal(at::tensor({0, 2, 4, 6}, at::kLong)));
  EXPECT_EQ(first_column((*batch)["x"]), (Ids{0, 1, 2, 3}));
  // A state of one goes on with the other.
  EXPECT_EQ(mapped->fingerprint(), numbers(0, 6)->fingerprint());
  EXPECT_EQ(map_dataset(numbers(0, 6), twice)->names(), std::vector<std::string>{"x"});
  EXPECT_ERROR(map_dataset(numbers(0, 6), {}), kInvalid, "a function");
}

TEST(Map, NamesTheSampleThatFails) {
  const auto fails = [](std::vector<at::Tensor> sample) {
    if (sample[0][0].item<std::int64_t>() == 23) throw std::runtime_error("no 23");
    return sample;
  };
  const auto mapped = map_dataset(subset_dataset(numbers(20, 10), {1, 3}), fails);
  EXPECT_ERROR(mapped->get_batch(Ids{0, 1}, 2), ErrorCode::kCallback, "cannot load sample 3: no 23");
  const auto of_libtorch =
      map_dataset(numbers(0, 2), [](std::vector<at::Tensor> s) { return std::vector{s[0].view({7})}; });
  EXPECT_ERROR(of_libtorch->get_batch(Ids{1}, 1), ErrorCode::kCallback, "cannot load sample 1: shape '[7]' is invalid");
  // Once, whatever it went through.
  try {
    map_dataset(std::make_shared<Odd>(), fails)->get_batch(Ids{5}, 1);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot load line 5: five");
  }
}

}  // namespace
}  // namespace tandem::derived_datasets_test
