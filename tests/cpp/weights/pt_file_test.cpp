// Files that Python wrote.
#include "tandem/pt_file.h"

#include <unistd.h>

#include <filesystem>

#include "cpp/weights/pt_test_values.h"

namespace tandem::testing::pt_file_test {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using ::testing::ElementsAre;

const std::vector<std::string> kBoth = {".pt", ".legacy.pt"};

TEST(PtFile, StateDicts) {
  for (const std::string name : {"state_dict.pt", "state_dict.legacy.pt", "protocol4.legacy.pt", "no_crc.pt"}) {
    SCOPED_TRACE(name);
    const PtValue value = load_pt(python_file(name), {.check_crc = true});
    EXPECT_TRUE(as<PtDict>(value).ordered);
    const NamedTensors tensors = tensors_of(value);
    ASSERT_EQ(tensors.size(), 3u);
    EXPECT_EQ(tensors[0].first, "0.weight");
    EXPECT_EQ(tensors[1].first, "0.bias");
    EXPECT_EQ(tensors[2].first, "1.num_batches_tracked");
    expect_bytes(tensors[0].second, counted({2, 3}));
    expect_bytes(tensors[1].second, counted({2}) + 0.5);
    EXPECT_EQ(tensors[2].second.item<std::int64_t>(), 7);
    const auto& attributes = as<PtDict>(value).attributes;
    ASSERT_EQ(attributes.size(), 1u);
    EXPECT_EQ(as<std::string>(attributes[0].key), "_metadata");
    EXPECT_EQ(as<std::int64_t>(attributes[0].value.at("").at("version")), 1);
  }
}

TEST(PtFile, EveryDtype) {
  for (const std::string& kind : kBoth) {
    const NamedTensors tensors = tensors_of(load_pt(python_file("dtypes" + kind)));
    ASSERT_EQ(tensors.size(), 21u);
    for (const auto& [name, tensor] : tensors) {
      SCOPED_TRACE(name);
      ASSERT_EQ(tensor.numel(), 3);
      const auto* const bytes = static_cast<const std::uint8_t*>(tensor.const_data_ptr());
      for (std::size_t i = 0; i < tensor.nbytes(); ++i) {
        EXPECT_EQ(bytes[i], tensor.scalar_type() == at::kBool ? i % 2 : i);
      }
    }
    const auto type = [&](const std::string& name) {
      for (const auto& [known, tensor] : tensors) {
        if (known == name) return tensor.scalar_type();
      }
      return at::ScalarType::Undefined;
    };
    EXPECT_EQ(type("bfloat16"), at::kBFloat16);
    EXPECT_EQ(type("complex128"), at::kComplexDouble);
    EXPECT_EQ(type("uint16"), at::kUInt16);
    EXPECT_EQ(type("float8_e4m3fn"), at::kFloat8_e4m3fn);
  }
}

TEST(PtFile, LayoutsAndSharedStorages) {
  for (const std::string& kind : kBoth) {
    SCOPED_TRACE(kind);
    const PtValue value = load_pt(python_file("layouts" + kind));
    const auto get = [&](const char* name) { return tensor_of(value.at(name)); };
    const at::Tensor base = counted({24});
    expect_bytes(get("base"), base);
    expect_bytes(get("row"), base.slice(0, 6, 12));
    expect_bytes(get("column"), base.view({4, 6}).select(1, 2));
    expect_bytes(get("transposed"), base.view({4, 6}).t());
    expect_bytes(get("expanded"), base.slice(0, 3, 4).expand({5}));
    EXPECT_EQ(get("transposed").strides(), at::IntArrayRef({1, 6}));
    EXPECT_EQ(get("expanded").strides(), at::IntArrayRef({0}));
    EXPECT_EQ(get("empty").sizes(), at::IntArrayRef({0, 3}));
    EXPECT_EQ(get("scalar").dim(), 0);
    EXPECT_EQ(get("scalar").item<float>(), 2.5);
    EXPECT_TRUE(get("channels_last").is_contiguous(at::MemoryFormat::ChannelsLast));
    for (const char* name : {"row", "column", "transposed", "expanded"}) {
      EXPECT_TRUE(share_storage(get(name), get("base"))) << name;
    }
    EXPECT_FALSE(share_storage(get("own"), get("base")));
    get("base").fill_(5);
    EXPECT_TRUE(get("column").equal(at::full({4}, 5.f)));
  }
}

TEST(PtFile, Parameters) {
  for (const std::string& kind : kBoth) {
    const PtValue value = load_pt(python_file("parameters" + kind));
    EXPECT_TRUE(as<PtTensor>(value.at("plain")).is_parameter);
    EXPECT_TRUE(tensor_of(value.at("plain")).requires_grad());
    EXPECT_TRUE(as<PtTensor>(value.at("frozen")).is_parameter);
    EXPECT_FALSE(tensor_of(value.at("frozen")).requires_grad());
    EXPECT_TRUE(as<PtTensor>(value.at("marked")).is_parameter);
    EXPECT_FALSE(as<PtTensor>(value.at("needs_grad")).is_parameter);
    EXPECT_TRUE(tensor_of(value.at("needs_grad")).requires_grad());
    EXPECT_TRUE(share_storage(tensor_of(value.at("tied")), tensor_of(value.at("plain"))));
    const at::Tensor conjugate = tensor_of(value.at("conjugate"));
    EXPECT_TRUE(conjugate.is_conj());
    EXPECT_EQ(conjugate[0].item<c10::complex<float>>(), c10::complex<float>(1, -2));
  }
}

TEST(PtFile, AnOptimizersState) {
  for (const std::string& kind : kBoth) {
    const PtValue value = load_pt(python_file("optimizer" + kind));
    EXPECT_EQ(as<std::int64_t>(value.at("epoch")), 3);
    EXPECT_EQ(as<double>(value.at("loss")), 0.25);
    const PtDict& state = as<PtDict>(value.at("optimizer").at("state"));
    ASSERT_EQ(state.items.size(), 2u);
    EXPECT_EQ(as<std::int64_t>(state.items[1].key), 1);
    EXPECT_EQ(tensor_of(state.items[0].value.at("step")).item<float>(), 2);
    EXPECT_EQ(tensor_of(state.items[0].value.at("exp_avg")).sizes(), at::IntArrayRef({2, 2}));
    const PtList& groups = as<PtList>(value.at("optimizer").at("param_groups"));
    ASSERT_EQ(groups.items.size(), 2u);
    EXPECT_EQ(as<double>(groups.items[1].at("lr")), 0.01);
    EXPECT_EQ(as<PtTuple>(groups.items[0].at("betas")).items.size(), 2u);
    EXPECT_EQ(tensors_of(value.at("model")).size(), 2u);
    EXPECT_ERROR(tensors_of(value), ErrorCode::kInvalidArgument, "'epoch'", "'model', 'optimizer', 'epoch', 'loss'");
    EXPECT_ERROR(value.at("weights"), ErrorCode::kNotFound, "no 'weights'", "'model', 'optimizer'");
  }
}

TEST(PtFile, PlainValues) {
  for (const std::string name : {"values.pt", "values.legacy.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt"}) {
    SCOPED_TRACE(name);
    const PtValue value = load_pt(python_file(name));
    EXPECT_TRUE(value.at("none").get_if<std::monostate>());
    EXPECT_EQ(as<bool>(value.at("yes")), true);
    EXPECT_EQ(as<bool>(value.at("no")), false);
    EXPECT_EQ(as<std::int64_t>(value.at("medium")), 70000);
    EXPECT_EQ(as<std::int64_t>(value.at("negative")), -3);
    EXPECT_EQ(as<std::int64_t>(value.at("large")), std::int64_t{1} << 40);
    EXPECT_EQ(as<std::int64_t>(value.at("least")), INT64_MIN);
    EXPECT_EQ(as<double>(value.at("real")), 1.5);
    EXPECT_EQ(as<std::complex<double>>(value.at("complex")), std::complex<double>(1, -2));
    EXPECT_EQ(as<std::string>(value.at("text")), "Grüße");
    EXPECT_EQ(as<PtBytes>(value.at("bytes")).bytes, std::string("\0\xff", 2));
    EXPECT_EQ(as<PtBytes>(value.at("array")).bytes, "ab");
    EXPECT_EQ(as<PtList>(as<PtList>(value.at("list")).items[1]).items.size(), 2u);
    EXPECT_EQ(as<PtTuple>(value.at("four")).items.size(), 4u);
    EXPECT_EQ(as<PtTuple>(value.at("nothing")).items.size(), 0u);
    EXPECT_EQ(as<std::int64_t>(as<PtSet>(value.at("set")).items.at(0)), 4);
    EXPECT_EQ(as<std::int64_t>(as<PtTuple>(value.at("size")).items.at(1)), 3);
    EXPECT_EQ(as<at::Device>(value.at("device")), at::Device(at::kCUDA, 1));
    EXPECT_EQ(as<at::ScalarType>(value.at("dtype")), at::kBFloat16);
    EXPECT_EQ(tensor_of(value.at("storage")).sizes(), at::IntArrayRef({8}));
    bool numbered = false;
    for (const PtItem& item : as<PtDict>(value).items) {
      const auto* const number = item.key.get_if<std::int64_t>();
      if (number && *number == 3) numbered = as<std::string>(item.value) == "three";
    }
    EXPECT_TRUE(numbered);
  }
}

TEST(PtFile, RefusesWhatPythonWouldRun) {
  EXPECT_ERROR(load_pt(python_file("evil_system.pt")), ErrorCode::kUnsupported, "evil_system.pt", "posix.system",
               "byte");
  EXPECT_ERROR(load_pt(python_file("module.pt")), ErrorCode::kUnsupported, "torch.nn.modules.linear.Linear",
               "Save a state_dict");
  EXPECT_ERROR(load_pt(python_file("values.pt"), {.most_values = 10}), ErrorCode::kUnsupported, "more than 10 values");
  EXPECT_ERROR(load_pt("/none/a.pt"), ErrorCode::kNotFound, "/none/a.pt");
}

TEST(PtFile, TensorsReferToTheFileUntilTheyAreWrittenTo) {
  const TempDir dir;
  const std::string path = dir / "a.pt";
  fs::copy_file(python_file("state_dict.pt"), path);
  const auto before = test::read_file(path);
  {
    const NamedTensors mapped = tensors_of(load_pt(path));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped[0].second.const_data_ptr()) % 64, 0u);
    mapped[0].second.fill_(9);
    EXPECT_TRUE(mapped[0].second.equal(at::full({2, 3}, 9.f)));
    expect_bytes(mapped[1].second, counted({2}) + 0.5);
  }
  EXPECT_EQ(test::read_file(path), before);
  // What was renamed or removed stays readable.
  const NamedTensors mapped = tensors_of(load_pt(path));
  fs::remove(path);
  expect_bytes(mapped[0].second, counted({2, 3}));
}

TEST(PtFile, AFileThatIsCutOffUnderItsTensorsIsFoundOut) {
  const TempDir dir;
  save_pt(dir / "a.pt", PtDict{{{"a", at::ones({100'000})}}});
  for (const bool copy : {false, true}) {
    fs::copy_file(dir / "a.pt", dir / "b.pt");
    const PtFile file(dir / "b.pt", {.copy = copy});
    EXPECT_NO_THROW(file.check());
    fs::resize_file(dir / "b.pt", 4096);
    const at::Tensor tensor = tensor_of(file.value().at("a"));
    const double sum = tensor.sum().item<double>();
    if (copy) {
      EXPECT_EQ(sum, 100'000);
      EXPECT_NO_THROW(file.check());
    } else {
      EXPECT_LT(sum, 100'000);
      EXPECT_ERROR(file.check(), ErrorCode::kDataLoss, "b.pt", "cut off");
      EXPECT_NO_THROW(tensor.fill_(1));
    }
    fs::remove(dir / "b.pt");
  }
}

TEST(PtFile, ChecksumsOfStoragesAreComparedWhereAskedFor) {
  const TempDir dir;
  auto bytes = test::read_file(python_file("state_dict.pt"));
  const float last = 5;
  const std::string pattern(reinterpret_cast<const char*>(&last), sizeof last);
  bytes[std::string(bytes.begin(), bytes.end()).find(pattern)] ^= 1;
  test::write_file(dir / "a.pt", bytes);
  EXPECT_NO_THROW(load_pt(dir / "a.pt"));
  EXPECT_ERROR(load_pt(dir / "a.pt", {.check_crc = true}), ErrorCode::kDataLoss, "a.pt", "data/0", "checksum");
}

TEST(PtFile, FlippedBitsAreReadOrRefused) {
  const TempDir dir;
  for (const std::string name : {"layouts.pt", "parameters.legacy.pt", "values.legacy.pt"}) {
    auto bytes = test::read_file(python_file(name));
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
      const auto bit = static_cast<std::uint8_t>(1 << i % 8);
      bytes[i] ^= bit;
      test::write_file(dir / "a.pt", bytes);
      try {
        const PtValue value = load_pt(dir / "a.pt");
        if (!value.get_if<PtDict>()) continue;
        for (const PtItem& item : as<PtDict>(value).items) {
          if (item.value.get_if<PtTensor>()) tensor_of(item.value).detach().clone();
        }
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kUnsupported) << error.what();
      }
      bytes[i] ^= bit;
    }
  }
}

}  // namespace
}  // namespace tandem::testing::pt_file_test
