// Whole files: those that Python wrote, cut and changed ones.
#include "weights/pt_layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cpp/data/expect_error.h"
#include "cpp/data/temp_dir.h"
#include "cpp/weights/zip_builder.h"

namespace tandem::weights {
namespace {

using pickle::Kind;
using test::FileBytes;

FileBytes python_file(const std::string& name) {
  FileBytes bytes = test::read_file(std::string(PT_FILES "/") + name);
  if (bytes.empty()) throw std::runtime_error("no file " + name);
  return bytes;
}

TEST(PtLayout, ReadsWhatPythonWrote) {
  for (const char* name : {"state_dict.pt", "state_dict.legacy.pt", "protocol4.legacy.pt", "no_crc.pt"}) {
    SCOPED_TRACE(name);
    const FileBytes file = python_file(name);
    const PtLayout layout = read_pt_layout(file, name);
    const auto& root = layout.pickle.object(layout.pickle.root);
    EXPECT_EQ(root.kind, Kind::kOrderedDict);
    EXPECT_EQ(root.items.size(), 6u);
    EXPECT_NE(root.attributes, pickle::kNoneRef);
    ASSERT_EQ(layout.storages.size(), 3u);
    const PtStorage& weight = layout.storages[layout.storage_of[0]];
    ASSERT_EQ(weight.size, 24u);
    float values[6];
    std::memcpy(values, &file[weight.offset], sizeof values);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i], static_cast<float>(i));
  }
  for (const char* name : {"dtypes.pt", "dtypes.legacy.pt", "layouts.pt", "layouts.legacy.pt", "parameters.pt",
                           "parameters.legacy.pt", "optimizer.pt", "optimizer.legacy.pt", "values.pt",
                           "values.legacy.pt", "protocol3.pt", "protocol4.pt", "protocol5.pt"}) {
    EXPECT_NO_THROW(read_pt_layout(python_file(name), name)) << name;
  }
}

TEST(PtLayout, RefusesWhatMeansHarm) {
  const auto refused = [](const std::string& name, const std::string& global) {
    EXPECT_ERROR(read_pt_layout(python_file(name), name), ErrorCode::kUnsupported, name + ": data.pkl: byte ", global);
  };
  refused("evil_system.pt", "posix.system");
  refused("evil_protocol4.pt", "posix.system");
  refused("evil_eval.pt", "__builtin__.eval");
  refused("evil_getattr.pt", "__builtin__.getattr");
  refused("module.pt", "torch.nn.modules.linear.Linear");
  refused("sparse.pt", "torch._utils._rebuild_sparse_tensor");
}

TEST(PtLayout, EveryCutIsRefused) {
  for (const char* name : {"state_dict.pt", "state_dict.legacy.pt", "protocol4.legacy.pt"}) {
    const FileBytes whole = python_file(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_ERROR(read_pt_layout(std::span(whole).first(size), name), ErrorCode::kDataLoss, name);
    }
  }
}

TEST(PtLayout, FlippedBitsAreReadOrRefused) {
  for (const char* name : {"state_dict.pt", "layouts.legacy.pt"}) {
    FileBytes bytes = python_file(name);
    int refused = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto bit = static_cast<std::uint8_t>(1 << i % 8);
      bytes[i] ^= bit;
      try {
        const PtLayout layout = read_pt_layout(bytes, name);
        for (const PtStorage& storage : layout.storages) EXPECT_LE(storage.offset + storage.size, bytes.size());
      } catch (const Error& error) {
        ++refused;
        EXPECT_TRUE(error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kUnsupported) << error.what();
      }
      bytes[i] ^= bit;
    }
    EXPECT_GT(refused, 100);
  }
}

const std::string kFloats =
    "\x80\x02"
    "ctorch._utils\n_rebuild_tensor_v2\n((X\x07" +
    std::string(3, '\0') + "storagectorch\nFloatStorage\nX\x01" + std::string(3, '\0') + "0X\x03" +
    std::string(3, '\0') + "cputQK" + std::string(1, '\0') + "K\x02\x85K\x01\x85\x89NtR.";

// `kFloats` with two elements, where `at` says "cpu" and "t" are.
std::string two_floats(char claimed = 2) {
  std::string text = kFloats;
  text.insert(text.find("cpu") + 3, std::string("K") + claimed);
  return text;
}

struct Records {
  std::string pickle = two_floats(), storage = std::string(8, '\1'), order = "little", version = "3\n";
};

FileBytes archive(const Records& records, const std::string& folder = "archive/") {
  test::ZipBuilder zip;
  zip.add(folder + "data.pkl", records.pickle);
  if (!records.order.empty()) zip.add(folder + "byteorder", records.order);
  if (!records.storage.empty()) zip.add(folder + "data/0", records.storage);
  if (!records.version.empty()) zip.add(folder + "version", records.version);
  return zip.finish();
}

TEST(PtLayout, RecordsAreHeldToEachOther) {
  EXPECT_NO_THROW(read_pt_layout(archive({}), "a.pt"));
  EXPECT_NO_THROW(read_pt_layout(archive({.order = ""}), "a.pt"));
  const auto refused = [](const Records& records, ErrorCode code, const char* why) {
    EXPECT_ERROR(read_pt_layout(archive(records), "a.pt"), code, "a.pt", why);
  };
  refused({.storage = "1234567"}, ErrorCode::kDataLoss, "7 bytes of the storage 'data/0'");
  refused({.storage = ""}, ErrorCode::kDataLoss, "lacks the storage 'data/0'");
  refused({.pickle = two_floats(1)}, ErrorCode::kDataLoss, "not in its storage of 4 bytes");
  refused({.order = "big"}, ErrorCode::kUnsupported, "byte order 'big'");
  refused({.version = "11\n"}, ErrorCode::kUnsupported, "version 11");
  refused({.version = ""}, ErrorCode::kDataLoss, "has no version");
  // Outside of the archive's folder nothing is looked for.
  EXPECT_ERROR(read_pt_layout(archive({}, ""), "a.pt"), ErrorCode::kDataLoss, "has no data.pkl");
}

TEST(PtLayout, APickleHasItsChecksum) {
  FileBytes bytes = archive({});
  const std::string text(bytes.begin(), bytes.end());
  bytes[text.find("_v2\n((X") + 20] ^= 1;
  EXPECT_ERROR(read_pt_layout(bytes, "a.pt"), ErrorCode::kDataLoss, "data.pkl does not have the checksum");
}

TEST(PtLayout, OtherFilesAreNamed) {
  EXPECT_ERROR(read_pt_layout({}, "a.pt"), ErrorCode::kDataLoss, "a.pt", "it is empty");
  const FileBytes text = {'h', 'e', 'l', 'l', 'o'};
  EXPECT_ERROR(read_pt_layout(text, "a.pt"), ErrorCode::kDataLoss, "no file of torch.save");
  test::ZipBuilder script;
  script.add("m/constants.pkl", "x");
  EXPECT_ERROR(read_pt_layout(script.finish(), "a.pt"), ErrorCode::kUnsupported, "TorchScript");
}

TEST(PtLayout, LegacyStoragesAreHeldToTheFile) {
  const FileBytes good = python_file("state_dict.legacy.pt");
  const PtLayout layout = read_pt_layout(good, "a.pt");
  for (const PtStorage& storage : layout.storages) {
    FileBytes bytes = good;
    for (const std::uint64_t count : {std::uint64_t{1} << 62, ~std::uint64_t{0}, std::uint64_t{100000}}) {
      store_u64(&bytes[storage.offset - 8], count);
      EXPECT_ERROR(read_pt_layout(bytes, "a.pt"), ErrorCode::kDataLoss, "a.pt is cut off in its storage");
    }
    store_u64(&bytes[storage.offset - 8], 0);
    EXPECT_THROW(read_pt_layout(bytes, "a.pt"), Error);
  }
}

}  // namespace
}  // namespace tandem::weights
