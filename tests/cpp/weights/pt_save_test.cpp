#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cpp/weights/pt_test_values.h"

namespace tandem::testing::pt_save_test {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using ::testing::ElementsAre;

PtValue round_trip(const PtValue& value) {
  const TempDir dir;
  save_pt(dir / "a.pt", value);
  EXPECT_THAT(dir.names(), ElementsAre("a.pt"));
  return load_pt(dir / "a.pt", {.check_crc = true});
}

void expect_same(const PtValue& found, const PtValue& expected, const std::string& place) {
  SCOPED_TRACE(place);
  ASSERT_EQ(found.value.index(), expected.value.index());
  const auto same_items = [&](const std::vector<PtItem>& a, const std::vector<PtItem>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      expect_same(a[i].key, b[i].key, place + ".key" + std::to_string(i));
      expect_same(a[i].value, b[i].value, place + "." + std::to_string(i));
    }
  };
  const auto same_values = [&](const std::vector<PtValue>& a, const std::vector<PtValue>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i], place + "." + std::to_string(i));
  };
  if (const auto* dict = expected.get_if<PtDict>()) {
    EXPECT_EQ(as<PtDict>(found).ordered, dict->ordered);
    same_items(as<PtDict>(found).items, dict->items);
    same_items(as<PtDict>(found).attributes, dict->attributes);
  } else if (const auto* list = expected.get_if<PtList>()) {
    same_values(as<PtList>(found).items, list->items);
  } else if (const auto* tuple = expected.get_if<PtTuple>()) {
    same_values(as<PtTuple>(found).items, tuple->items);
  } else if (const auto* set = expected.get_if<PtSet>()) {
    same_values(as<PtSet>(found).items, set->items);
  } else if (const auto* bytes = expected.get_if<PtBytes>()) {
    EXPECT_EQ(as<PtBytes>(found).bytes, bytes->bytes);
  } else if (const auto* tensor = expected.get_if<PtTensor>()) {
    EXPECT_EQ(as<PtTensor>(found).is_parameter, tensor->is_parameter);
    EXPECT_EQ(tensor_of(found).requires_grad(), tensor->tensor.requires_grad());
    EXPECT_EQ(tensor_of(found).strides(), tensor->tensor.strides());
    expect_bytes(tensor_of(found), tensor->tensor);
  } else if (const auto* real = expected.get_if<double>()) {
    EXPECT_EQ(as<double>(found), *real);
  } else if (const auto* number = expected.get_if<std::int64_t>()) {
    EXPECT_EQ(as<std::int64_t>(found), *number);
  } else if (const auto* text = expected.get_if<std::string>()) {
    EXPECT_EQ(as<std::string>(found), *text);
  }
}

TEST(SavePt, WhatPythonWroteComesBackAsItWas) {
  for (const char* name : {"state_dict", "dtypes", "layouts", "parameters", "optimizer", "values"}) {
    const PtValue value = load_pt(python_file(std::string(name) + ".pt"));
    expect_same(round_trip(value), value, name);
  }
}

TEST(SavePt, EveryKindOfValue) {
  const PtValue value =
      PtDict{{{"numbers", PtList{{-1, 255, 256, 65535, 65536, INT64_MAX, INT64_MIN, 0.1}}},
              {"flags", PtTuple{{true, false, {}}}},
              {"text", "a\nb'ü"},
              {7, PtBytes{std::string("\0\x7f\x80\xff", 4)}},
              {"set", PtSet{{1, "b"}}},
              {"empty", PtTuple{{PtList{}, PtDict{}, PtDict{{}, true, {}}, PtSet{}, PtTuple{}, "", PtBytes{}}}},
              {"device", at::Device(at::kCPU)},
              {"other", at::Device(at::kCUDA, 2)},
              {"dtype", at::kFloat8_e5m2},
              {"complex", std::complex<double>(0, -1)}}};
  const PtValue back = round_trip(value);
  expect_same(back, value, "values");
  EXPECT_EQ(as<at::Device>(back.at("other")), at::Device(at::kCUDA, 2));
  EXPECT_EQ(as<at::ScalarType>(back.at("dtype")), at::kFloat8_e5m2);
}

TEST(SavePt, ViewsOfOneStorageAreWrittenOnce) {
  const TempDir dir;
  const at::Tensor base = counted({100'000});
  const at::Tensor words = base.view(at::kInt);
  save_pt(dir / "a.pt", PtDict{{{"base", base}, {"row", base.slice(0, 10, 20)}, {"every", base.slice(0, 0, 50, 5)}}});
  EXPECT_LT(fs::file_size(dir / "a.pt"), 410'000u);
  const PtValue value = load_pt(dir / "a.pt");
  tensor_of(value.at("base")).fill_(3);
  EXPECT_TRUE(tensor_of(value.at("row")).equal(at::full({10}, 3.f)));
  EXPECT_TRUE(tensor_of(value.at("every")).equal(at::full({10}, 3.f)));
  // Python has one dtype for a storage.
  save_pt(dir / "b.pt", PtDict{{{"base", base}, {"words", words}}});
  const PtValue both = load_pt(dir / "b.pt");
  expect_bytes(tensor_of(both.at("base")), base);
  expect_bytes(tensor_of(both.at("words")), words);
}

TEST(SavePt, StoragesAreAlignedForMapping) {
  const PtValue value = state_dict_of({{"a", at::ones({3})}, {"b", at::ones({5}, at::kByte)}, {"c", at::ones({1})}});
  const TempDir dir;
  save_pt(dir / "a.pt", value);
  const PtFile file(dir / "a.pt");
  fs::resize_file(dir / "a.pt", 0);
  for (const auto& [name, tensor] : tensors_of(file.value())) EXPECT_EQ(tensor.sum().item<double>(), 0) << name;
  EXPECT_ERROR(file.check(), ErrorCode::kDataLoss, "cut off");
}

TEST(SavePt, NamesWhatCannotBeSaved) {
  const TempDir dir;
  const auto refused = [&](const PtValue& value, const std::string& why) {
    EXPECT_ERROR(save_pt(dir / "a.pt", value), ErrorCode::kInvalidArgument, "cannot save", why);
  };
  const auto inside = [](const PtValue& value) { return PtDict{{{"model", PtDict{{{"w", value}}}}}}; };
  refused(inside(at::eye(2).to_sparse()), "'model.w': the tensor is sparse");
  refused(inside(at::Tensor()), "'model.w': the tensor is undefined");
  refused(inside(at::empty({2}, at::kMeta)), "'model.w': the tensor has no elements");
  refused(inside("\xff"), "'model.w': a text is not UTF-8");
  refused(PtDict{{{"a", 1}, {"a", 2}}}, "'a' twice");
  refused(PtDict{{{3, 1}, {3, 2}}}, "the key 3 twice");
  PtValue deep;
  for (int i = 0; i < 300; ++i) {
    PtList list;
    list.items.push_back(std::move(deep));
    deep = std::move(list);
  }
  refused(deep, "nested more than 200 deep");
  EXPECT_THAT(dir.names(), ElementsAre());
  EXPECT_ERROR(save_pt(dir / "no/a.pt", 1), ErrorCode::kNotFound, "no/a.pt", "is its folder there");
}

TEST(SavePt, AFailedSaveLeavesTheOldFile) {
  const TempDir dir;
  save_pt(dir / "a.pt", PtDict{{{"a", 1}}});
  const auto before = test::read_file(dir / "a.pt");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{100'000, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);  // as a full disk
  EXPECT_ERROR(save_pt(dir / "a.pt", PtDict{{{"a", at::ones({1'000'000})}}}), ErrorCode::kIo, "cannot write", "a.pt",
               "File too large");
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(test::read_file(dir / "a.pt"), before);
  EXPECT_THAT(dir.names(), ElementsAre("a.pt"));
}

// For `reference.py check`.
TEST(SavePt, FilesForPython) {
  const char* const folder = std::getenv("TANDEM_PT_FOLDER");
  if (!folder) GTEST_SKIP() << "no TANDEM_PT_FOLDER to write to";
  for (const char* name : {"state_dict", "dtypes", "layouts", "parameters", "optimizer", "values"}) {
    const std::string file = std::string(name) + ".pt";
    save_pt(std::string(folder) + "/" + file, load_pt(python_file(file)));
  }
}

}  // namespace
}  // namespace tandem::testing::pt_save_test
