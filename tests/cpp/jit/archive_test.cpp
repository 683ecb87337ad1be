// Files that are damaged, or made to do harm.
#include <sys/resource.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "cpp/jit/files.h"
#include "cpp/weights/zip_builder.h"
#include "fuzz/mutator.h"
#include "weights/zip_directory.h"

namespace tandem::testing::jit_archive_test {
namespace {

using test::FileBytes;
using test::jit_file;

FileBytes file_of(const std::string& name) {
  return test::read_file(jit_file(name));
}

std::shared_ptr<jit::ScriptModule> load(const FileBytes& file) {
  return jit::load_bytes(file, "a.pt");
}

// Text with zeros in it.
template <std::size_t kSize>
std::string raw(const char (&text)[kSize]) {
  return std::string(text, kSize - 1);
}

// An archive of one class with what a test wants in it.
struct Parts {
  std::string data =
      raw("\x80\x02"
          "c__torch__\nM\n)\x81}(X\x01\x00\x00\x00"
          "aK\x01ub.");
  std::string constants = raw("\x80\x02).");
  std::string code =
      "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  a : int\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.add(x, self.a)\n";
  std::string version = "3\n";
  std::vector<std::pair<std::string, std::string>> more;

  FileBytes build() const {
    test::ZipBuilder zip;
    zip.add("m/data.pkl", data);
    zip.add("m/constants.pkl", constants);
    zip.add("m/code/__torch__.py", code);
    zip.add("m/version", version);
    for (const auto& [name, content] : more) zip.add("m/" + name, content);
    return zip.finish();
  }
};

TEST(Archive, TheSmallestIsLoaded) {
  const auto module = load(Parts().build());
  EXPECT_EQ(module->forward(at::ones({1})).toTensor().item<float>(), 2);
}

TEST(Archive, OtherFilesAreNamed) {
  const test::TempDir dir;
  EXPECT_ERROR(jit::load(dir / "none.pt"), ErrorCode::kNotFound, "none.pt");
  EXPECT_ERROR(load({}), ErrorCode::kDataLoss, "a.pt is not a valid zip archive");
  EXPECT_ERROR(load(FileBytes(100, 'x')), ErrorCode::kDataLoss, "a.pt is not a valid zip archive");
  const std::string saved = JIT_FILES "/../../cpp/weights/files/state_dict.pt";
  EXPECT_ERROR(jit::load(saved), ErrorCode::kUnsupported, "no module of TorchScript, but a file of torch.save");
}

TEST(Archive, EveryCutIsRefused) {
  const FileBytes file = file_of("nested.pt");
  for (std::size_t size = 0; size < file.size(); size += 1 + size / 40) {
    EXPECT_ERROR(load(FileBytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size))), ErrorCode::kDataLoss,
                 "a.pt");
  }
}

// Whatever the byte: the bytes of every member have a checksum, and headers and directory are not shown to LibTorch.
TEST(Archive, EveryChangedByteIsRefusedOrMeansNothing) {
  const FileBytes file = file_of("mlp.pt");
  const at::Tensor x = test::jit_expected("inputs")[0][0], expected = test::jit_expected("mlp.eval");
  int refused = 0;
  for (std::size_t at = 0; at < file.size(); at += 7) {
    FileBytes changed = file;
    changed[at] ^= 0x20;
    try {
      test::expect_close(load(changed)->forward(x).toTensor().detach(), expected);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kUnsupported)
          << at << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Archive, PicklesCallNothing) {
  Parts parts;
  parts.data =
      raw("\x80\x02"
          "cposix\nsystem\n(X\x04\x00\x00\x00"
          "exittR.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "a.pt: data.pkl", "posix.system");
  parts.data =
      raw("\x80\x02"
          "c__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81}b.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "torch.classes");
  parts.data =
      raw("\x80\x02"
          "ctorch.distributed.rpc\nrref\n)R.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "torch.distributed.rpc.rref");
  parts = {};
  parts.constants =
      raw("\x80\x02"
          "cbuiltins\neval\n(X\x01\x00\x00\x00"
          "1tR.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "a.pt: constants.pkl", "builtins.eval");
  parts = {};
  parts.code +=
      "  def __getstate__(self: __torch__.M) -> int:\n    return 1\n"
      "  def __setstate__(self: __torch__.M, state: int) -> NoneType:\n    while True:\n      pass\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "__setstate__");
}

// What LibTorch would take memory for, or read outside of.
TEST(Archive, LiesAreRefused) {
  Parts parts;
  parts.data =
      raw("\x80\x02"
          "c__torch__\nM\n)\x81r\xff\xff\xff\x7f}(X\x01\x00\x00\x00"
          "aK\x01ub.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "of the memo before those below it");
  const auto tensor = [](const std::string& elements, const std::string& size, const std::string& key = "0") {
    return "ctorch._utils\n_rebuild_tensor_v2\n((X\x07" + std::string(3, '\0') + "storagectorch\nFloatStorage\nX\x01" +
           std::string(3, '\0') + key + "X\x03" + std::string(3, '\0') + "cpuK" + elements + "tQK" +
           std::string(1, '\0') + "(K" + size +
           "t(K\x01t\x88"
           "ccollections\nOrderedDict\n)RtR";
  };
  const auto module_of = [](const std::string& value) {
    return raw("\x80\x02"
               "c__torch__\nM\n)\x81}(X\x01") +
           std::string(3, '\0') + "a" + value + "ub.";
  };
  parts = {};
  parts.code =
      "class M(Module):\n  __parameters__ = [\"a\", ]\n  __buffers__ = []\n  a : Tensor\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.add(x, self.a)\n";
  parts.more = {{"data/0", "12345678"}};
  parts.data = module_of(tensor("\x02", "\x02"));
  EXPECT_EQ(load(parts.build())->parameters()[0].numel(), 2);
  parts.data = module_of(tensor("\x03", "\x03"));
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "has 8 bytes of the storage 'data/0', and data.pkl wants 12");
  parts.data = module_of(tensor("\x02", "\x03"));
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "elements that are not in its storage");
  parts.data = module_of(tensor("\x02", "\x02", "1"));
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "lacks the storage 'data/1'");
  parts.data = module_of("(" + tensor("\x02", "\x02") + tensor("\x02", "\x02") + "t");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "a second time");
  parts.data = module_of("K\x05");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "attribute 'a' is to be of type Tensor, and is of int");
  parts = {};
  parts.data =
      raw("\x80\x02"
          "c__torch__\nM\n)\x81}b.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "a.pt cannot be loaded as TorchScript");
  parts.data =
      raw("\x80\x02"
          "K\x01.");
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "a.pt cannot be loaded as TorchScript");
  parts = {};
  parts.version = "99\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "version");
}

// LibTorch computes defaults and constants while it loads.
TEST(Archive, LoadingComputesNothing) {
  const test::TempDir dir;
  const std::string write = "torch.from_file(\"" + (dir / "written") + "\", True, 16)";
  const auto code = [](const std::string& body, const std::string& argument = "", const std::string& above = "") {
    Parts parts;
    parts.code = above + "class M(Module):\n  a : int\n" + body + "  def forward(self: __torch__.M, x: Tensor" + argument +
                 ") -> Tensor:\n    return x\n";
    return parts.build();
  };
  const std::string forbidden[][3] = {
      {"", ", y: Tensor=" + write, ""},
      {"", ",\n  y: Tensor=" + write, ""},
      {"", ", y: Tensor=[" + write + "][0]", ""},
      {"", ", n: List[int]=[1 for i in range(1000000000000)]", ""},
      {"", ", n: List[int]=[1]*1000000000000", ""},
      {"  k : Final[Tensor] = " + write + "\n", "", ""},
      {"  k : Final[Tensor] = \\\n" + write + "\n", "", ""},
      {"  \\\n  def f(self: __torch__.M) -> int:\n    return 1\n  k : Final[Tensor] = " + write + "\n", "", ""},
      {"", "", "class P(NamedTuple):\n  x : Tensor = " + write + "\n"},
      {"", "", "def f(x: Tensor=" + write + ") -> Tensor:\n  return x\n"},
  };
  for (const auto& [body, argument, above] : forbidden) {
    EXPECT_ERROR(load(code(body, argument, above)), ErrorCode::kUnsupported, "in a default or a constant");
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "written"));
  // What torch.jit.save writes of values.
  EXPECT_TRUE(load(code("  k : Final[int] = 3\n  s : Final[str] = \"a(b\"\n  t : Final[Tuple[int, float]] = (1, -2.5)\n",
                        ", n: List[int]=annotate(List[int], []), d: Device=torch.device(\"cpu\"), "
                        "f: float=float(\"inf\"), *, g: Optional[Tensor]=None")));
}

TEST(Archive, CodeIsBounded) {
  Parts parts;
  const std::string head =
      "class M(Module):\n  a : int\n  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return ";
  for (const std::string& line : {std::string("\n"), std::string("#\n"), std::string("\\\n")}) {
    std::string lines;
    for (int i = 0; i < 200'000; ++i) lines += line;
    parts.code = head + "x\n" + lines + "\n";
    EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "empty lines and comments after each other");
  }
  parts.code = "class M(Module):\n  a : int\n  def forward(self, x):\n    # type: " + std::string(400'000, '(') +
               "\n    return x\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "line 4: more than 200 nested brackets");
  parts.code.clear();
  for (int i = 0; i < 20'000; ++i) parts.code += "class\tA" + std::to_string(i) + "(Module):\n  a : int\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "has 20000 classes and functions, and at most 16384");
  parts.code = head + std::string(100'000, '(') + "x" + std::string(100'000, ')') + "\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported,
               "a.pt: code/__torch__.py, line 4: more than 200 nested brackets");
  parts.code = head + "ops.no_such_library.no_such_operator(x)\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "no_such_library");
  parts.code = head + "x\n#" + std::string(33 << 20, ' ');
  EXPECT_ERROR(load(parts.build()), ErrorCode::kUnsupported, "33 MiB of code, and at most 32 are compiled");
  parts.code = "class Other(Module):\n  a : int\n";
  EXPECT_ERROR(load(parts.build()), ErrorCode::kDataLoss, "a.pt cannot be loaded as TorchScript");
}

// A directory that promises much: nothing is inflated for it.
TEST(Archive, SizesThatCannotBeAreRefused) {
  FileBytes file = file_of("mlp.pt");
  const std::string entry("PK\x01\x02");
  int entries = 0;
  auto at = std::search(file.begin(), file.end(), entry.begin(), entry.end());
  for (; at != file.end(); at = std::search(at + 4, file.end(), entry.begin(), entry.end())) {
    if (at[10] != 8) continue;
    store_u32(&at[24], 0x7fffffff);
    ++entries;
  }
  ASSERT_GT(entries, 0);
  EXPECT_ERROR(load(file), ErrorCode::kDataLoss, "cannot inflate from", "2147483647");
}

// Whatever comes: a module or an error, in bounded memory.
TEST(Archive, MutatedPicklesAndCode) {
  test::Mutator mutator(5);
  std::vector<FileBytes> pickles, sources;
  for (const char* name : {"mlp.pt", "nested.pt", "norm.pt", "traced.pt"}) {
    const FileBytes file = file_of(name);
    for (const auto& member : weights::read_zip_directory(file, name, weights::ZipMethods::kStoredOrDeflated)) {
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(member.offset);
      if (member.name.ends_with("data.pkl"))
        pickles.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(member.size));
    }
  }
  const std::string code = Parts().code, data = Parts().data;
  sources.emplace_back(code.begin(), code.end());
  pickles.emplace_back(data.begin(), data.end());
  ASSERT_EQ(pickles.size(), 5u);
  int read = 0, refused = 0;
  for (int round = 0; round < 1500; ++round) {
    Parts parts;
    const FileBytes pickle = round % 3 == 0 ? pickles.back() : mutator.mutant(pickles);
    FileBytes source = sources[0];
    if (round % 3 != 1) mutator.mutate(source, sources);
    parts.data.assign(pickle.begin(), pickle.end());
    parts.code.assign(source.begin(), source.end());
    for (int i = 0; i < 12; ++i)
      parts.more.emplace_back("data/" + std::to_string(i), std::string(mutator.below(300), 's'));
    FileBytes file = parts.build();
    if (round % 5 == 0) mutator.mutate(file, pickles);
    try {
      const auto module = load(file);
      ++read;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kUnsupported) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tandem::testing::jit_archive_test
