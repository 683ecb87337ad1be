#include "weights/pickle/unpickler.h"

#include <gtest/gtest.h>

#include <string>

#include "cpp/data/expect_error.h"

namespace tandem::pickle {
namespace {

using namespace std::string_literals;

const std::string kStart = "\x80\x02";

Pickle load(const std::string& body, const Limits& limits = {}) {
  // What is given refers to the text.
  static std::string kept;
  kept = kStart + body;
  return unpickle(kept, "test", 0, limits);
}

const Object& root(const Pickle& pickle) {
  return pickle.object(pickle.root);
}

std::string u32(std::uint32_t value) {
  return std::string(reinterpret_cast<const char*>(&value), 4);
}

std::string text(const std::string& value) {
  return "X" + u32(static_cast<std::uint32_t>(value.size())) + value;
}

std::string storage(const std::string& type, int elements) {
  return "(" + text("storage") + "ctorch\n" + type + "\n" + text("0") + text("cpu") + "K" +
         static_cast<char>(elements) + "tQ";
}

// _rebuild_tensor_v2 of a storage of 8 floats; the rest in Python's order.
std::string tensor(const std::string& offset, const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage("FloatStorage", 8) + offset + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR.";
}

TEST(Unpickler, ReadsPlainValues) {
  EXPECT_EQ(root(load("N.")).kind, Kind::kNone);
  EXPECT_EQ(root(load("\x88.")).integer, 1);
  EXPECT_EQ(root(load("J\xff\xff\xff\xff.")).integer, -1);
  EXPECT_EQ(root(load("M\x00\x80."s)).integer, 0x8000);
  EXPECT_EQ(root(load("\x8a\x00."s)).integer, 0);
  EXPECT_EQ(root(load("\x8a\x01\xfe.")).integer, -2);
  EXPECT_EQ(root(load("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."s)).integer, INT64_MIN);
  EXPECT_EQ(root(load("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00."s)).kind, Kind::kLongInteger);
  EXPECT_EQ(root(load("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s)).real, 1.5);
  EXPECT_EQ(root(load(text("Gr\xc3\xbc") + ".")).text, "Gr\xc3\xbc");
  EXPECT_EQ(root(load("U\x02\xff\xfe.")).kind, Kind::kBytes);
  EXPECT_EQ(root(load("C\x01z.")).text, "z");
}

TEST(Unpickler, ReadsContainersAndMemo) {
  const Pickle dict = load("}q\x01(" + text("a") + "K\x05" + text("b") +
                           "](K\x01K\x02"
                           "eh\x01"
                           "0u.");
  ASSERT_EQ(root(dict).kind, Kind::kDict);
  ASSERT_EQ(root(dict).items.size(), 4u);
  EXPECT_EQ(dict.object(root(dict).items[3]).items.size(), 2u);
  EXPECT_EQ(root(load("K\x01K\x02K\x03\x87.")).items.size(), 3u);
  EXPECT_EQ(root(load("ccollections\nOrderedDict\n](]" + text("k") +
                      "aK\x01"
                      "ae\x85R."))
                .items.size(),
            2u);
  EXPECT_EQ(root(load("c__builtin__\nset\n]K\x01"
                      "a\x85R."))
                .kind,
            Kind::kSet);
  const Pickle counter = load("ccollections\nCounter\n}(K\x03K\x01K\x08K\x02u\x85R.");
  ASSERT_EQ(root(counter).kind, Kind::kDict);
  EXPECT_EQ(root(counter).items.size(), 4u);
  EXPECT_ERROR(load("ccollections\nCounter\n]\x85R."), ErrorCode::kDataLoss, "Counter");
  // Protocols 4 and 5.
  EXPECT_EQ(root(load("\x95\x04\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90."s)).items.size(), 1u);
  EXPECT_EQ(root(load("\x8c\x0b"
                      "collections\x94\x8c\x0bOrderedDict\x93)R."))
                .kind,
            Kind::kOrderedDict);
}

TEST(Unpickler, ReadsTensors) {
  const Pickle pickle = load(tensor("K\x01", "K\x02K\x03\x86", "K\x03K\x01\x86"));
  ASSERT_EQ(root(pickle).kind, Kind::kTensor);
  ASSERT_EQ(pickle.tensors.size(), 1u);
  EXPECT_EQ(pickle.tensors[0].dtype, Dtype::kFloat);
  EXPECT_EQ(pickle.tensors[0].offset, 1);
  EXPECT_EQ(pickle.storages[0].bytes(), 32u);
  EXPECT_EQ(pickle.storages[0].key, "0");
}

TEST(Unpickler, RefusesElementsOutsideOfTheStorage) {
  const auto refused = [](const std::string& offset, const std::string& sizes, const std::string& strides) {
    EXPECT_ERROR(load(tensor(offset, sizes, strides)), ErrorCode::kDataLoss, "_rebuild_tensor_v2", "byte ");
  };
  const std::string most = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f";
  refused("K\x03", "K\x02K\x03\x86", "K\x03K\x01\x86");
  refused("K\x00"s, "K\x09\x85", "K\x01\x85");
  refused("J\xff\xff\xff\xff", "K\x01\x85", "K\x01\x85");
  refused("K\x00"s, "J\xff\xff\xff\xff\x85", "K\x01\x85");
  refused("K\x00"s, "K\x02\x85", "J\xff\xff\xff\xff\x85");
  refused("K\x00"s, "K\x02\x85", "K\x01K\x01\x86");
  refused(most, "K\x01\x85", "K\x01\x85");
  refused("K\x00"s, most + "\x85", most + "\x85");
  refused("K\x00"s, most + most + "\x86", "K\x00K\x00\x86"s);
  refused("K\x00"s, "K\x00"s + most + most + "\x87", "K\x00K\x00K\x00\x87"s);
  refused("K\x00"s, "K\x02\x85", most + "\x85");
  refused("K\x00"s,
          "]K\x02"
          "a",
          "]K\x01"
          "a");
  EXPECT_NO_THROW(load(tensor("K\x07", "M\xff\xff\x85", "K\x00\x85"s)));
  EXPECT_NO_THROW(load(tensor("K\x08", "K\x00\x85"s, "K\x01\x85")));
  std::string ones;
  for (int i = 0; i < 65; ++i) ones += "K\x01";
  refused("K\x00"s, "(" + ones + "t", "(" + ones + "t");
}

TEST(Unpickler, RefusesOtherGlobalsByName) {
  const auto refused = [](const std::string& body, const std::string& name) {
    EXPECT_ERROR(load(body), ErrorCode::kUnsupported, name, "byte 2", "test");
  };
  refused("cos\nsystem\n" + text("true") + "\x85R.", "os.system");
  refused("cbuiltins\neval\n" + text("1") + "\x85R.", "builtins.eval");
  refused("c__builtin__\ngetattr\n.", "__builtin__.getattr");
  refused("ctorch.storage\n_load_from_bytes\n.", "torch.storage._load_from_bytes");
  refused("ctorch._utils\n_rebuild_sparse_tensor\n.", "torch._utils._rebuild_sparse_tensor");
  refused("c\n\n.", "the global .");
  EXPECT_ERROR(load("\x8c\x02os\x8c\x06system\x93."), ErrorCode::kUnsupported, "os.system", "byte 14");
  // Neither by way of attributes, subclasses, nor through what is allowed.
  EXPECT_ERROR(load("]}b."), ErrorCode::kUnsupported, "attributes");
  EXPECT_ERROR(load("K\x01)R."), ErrorCode::kDataLoss, "no function or class");
  EXPECT_ERROR(load("ctorch\nfloat32\n)R."), ErrorCode::kUnsupported, "a call of a class or dtype");
  EXPECT_ERROR(load("ctorch._tensor\n_rebuild_from_type_v2\n(ccollections\nOrderedDict\nctorch\nTensor\n)NtR."),
               ErrorCode::kDataLoss, "makes no tensor");
  EXPECT_ERROR(load("(" + text("module") + "NNNtQ."), ErrorCode::kUnsupported, "no storage");
  for (const std::string opcode : {"i", "o", "P", "\x82", "\x92", "\x97", "I", "S", "\x91"}) {
    EXPECT_ERROR(load(opcode + "."), ErrorCode::kDataLoss, "opcode");
  }
}

TEST(Unpickler, RefusesWhatIsDamaged) {
  EXPECT_ERROR(unpickle("", "test"), ErrorCode::kDataLoss, "no pickle");
  EXPECT_ERROR(unpickle("\x80", "test"), ErrorCode::kDataLoss, "no pickle");
  EXPECT_ERROR(unpickle("(lp0\n.", "test"), ErrorCode::kDataLoss, "no pickle");
  EXPECT_ERROR(unpickle("\x80\x06N.", "test"), ErrorCode::kUnsupported, "protocol 6");
  for (const std::string body : {"",
                                 "N",
                                 ".",
                                 "a.",
                                 "K\x01K\x02"
                                 "a.",
                                 "t.",
                                 "u.",
                                 "(N.",
                                 "NN.",
                                 "h\x05.",
                                 "R.",
                                 "NNs.",
                                 "}(Nu.",
                                 "]N\x90.",
                                 "c",
                                 "cos",
                                 "cos\nsystem",
                                 "q\x01.",
                                 "\x93.",
                                 "NN\x93.",
                                 "b.",
                                 "Q.",
                                 "NQ."}) {
    EXPECT_ERROR(load(body), ErrorCode::kDataLoss, "test: byte ");
  }
}

TEST(Unpickler, LengthsAreHeldToWhatIsThere) {
  for (const std::string body :
       {"X\xff\xff\xff\xff", "T\xff\xff\xff\xff", "B\xff\xff\xff\x7f", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
        "\x8e\xff\xff\xff\xff\xff\xff\xff\xff", "\x96\xff\xff\xff\xff\xff\xff\xff\xff",
        "\x95\xff\xff\xff\xff\xff\xff\xff\xff", "\x8a\xff"}) {
    EXPECT_ERROR(load(body + "."), ErrorCode::kDataLoss, "byte 2");
  }
  EXPECT_ERROR(load("\x8b\xff\xff\xff\xff."), ErrorCode::kUnsupported, "an integer of 4294967295 bytes");
  EXPECT_ERROR(load("c" + std::string(5000, 'a') + "\nb\n."), ErrorCode::kDataLoss, "a name without an end");
  // A place in the memo is no amount of memory.
  EXPECT_EQ(root(load("K\x07r\xff\xff\xff\xff"
                      "0j\xff\xff\xff\xff."))
                .integer,
            7);
}

TEST(Unpickler, ValuesAndDepthAreBounded) {
  // Each list holds the one before twice: 2^40 values in 400 bytes.
  std::string doubling = "]";
  for (int i = 0; i < 40; ++i)
    doubling +=
        "q\x01"
        "0]h\x01"
        "ah\x01"
        "a";
  EXPECT_ERROR(load(doubling + "."), ErrorCode::kUnsupported, "more than 4194304 values");
  EXPECT_ERROR(load("]q\x01h\x01"
                    "a."),
               ErrorCode::kUnsupported, "within themselves");
  const auto nested = [](int deep) {
    std::string begin, end;
    for (int i = 0; i < deep; ++i) begin += "]", end += "a";
    return begin + end.substr(1) + ".";
  };
  EXPECT_NO_THROW(load(nested(256)));
  EXPECT_ERROR(load(nested(300)), ErrorCode::kUnsupported, "more than 256 deep");
  EXPECT_ERROR(load(nested(1'000'000)), ErrorCode::kUnsupported, "deep");
  EXPECT_ERROR(load(std::string(2000, '(') + "."), ErrorCode::kDataLoss, "more values than there are");
  const Limits few{100, 256};
  std::string list = "](";
  for (int i = 0; i < 200; ++i) list += "K\x01";
  EXPECT_ERROR(load(list + "e.", few), ErrorCode::kUnsupported, "more than 100 values");
  // A long text in many places, sets made of one long list, and dicts of many pairs.
  std::string texts = text(std::string(10000, 'a')) +
                      "q\x01"
                      "0](";
  for (int i = 0; i < 10; ++i) texts += "h\x01";
  EXPECT_ERROR(load(texts + "e.", few), ErrorCode::kUnsupported, "more than 100 values");
  std::string sets =
      "](N"
      "NNNNNNNNeq\x01"
      "0](";
  for (int i = 0; i < 12; ++i) sets += "cbuiltins\nset\nh\x01\x85R";
  EXPECT_ERROR(load(sets + "e.", few), ErrorCode::kUnsupported, "more than 100 values");
}

TEST(Unpickler, EveryCutIsRefused) {
  const std::string whole = kStart + tensor("K\x01", "K\x02K\x03\x86", "K\x03K\x01\x86");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_ERROR(unpickle(std::string_view(whole).substr(0, size), "cut"), ErrorCode::kDataLoss, "cut: byte ");
  }
}

// What LibTorch's own unpickler, which reads these next, would take for something else is refused.
TEST(Unpickler, TorchScriptHasObjectsOfItsClasses) {
  Limits script;
  script.dialect = Dialect::kTorchScript;
  const std::string object = "c__torch__.nets\nNet\n)\x81}(" + text("scale") + "K\x02ub.";
  const Pickle pickle = load(object, script);
  EXPECT_EQ(root(pickle).kind, Kind::kObject);
  const Object& state = pickle.object(root(pickle).attributes);
  ASSERT_EQ(state.items.size(), 2u);
  EXPECT_EQ(pickle.object(state.items[1]).integer, 2);
  EXPECT_ERROR(load(object), ErrorCode::kUnsupported, "__torch__.nets.Net");
  EXPECT_EQ(root(load("ctorch.jit._pickle\nbuild_intlist\n(](K\x01K\x02"
                      "etR.",
                      script))
                .items.size(),
            2u);
  const std::string dict = "ctorch.jit._pickle\nrestore_type_tag\n(}";
  EXPECT_EQ(root(load(dict + text("Dict[str, int]") + "tR.", script)).kind, Kind::kDict);
  for (const std::string& type : {std::string(100, '['), std::string(100, '('), std::string("-int"), std::string("int\n"),
                                  std::string(5000, 'a')}) {
    EXPECT_ERROR(load(dict + text(type) + "tR.", script), ErrorCode::kDataLoss, "restore_type_tag");
  }
  EXPECT_ERROR(load("ccollections\nCounter\n}\x85R.", script), ErrorCode::kUnsupported, "collections.Counter");
  EXPECT_ERROR(load("ctorch.jit._pickle\nbuild_tensor_from_id\nK\x01\x85R.", script), ErrorCode::kUnsupported,
               "build_tensor_from_id");
  EXPECT_ERROR(load("c__torch__.torch.classes.a\nB\n)\x81.", script), ErrorCode::kUnsupported, "torch.classes");
  EXPECT_ERROR(load("K\x01q\x01.", script), ErrorCode::kDataLoss, "number 1 of the memo before those below it");
  EXPECT_NO_THROW(load("K\x01q\x01."));
  const std::string twice = "(" + storage("FloatStorage", 2) + storage("FloatStorage", 2) + "t.";
  EXPECT_ERROR(load(twice, script), ErrorCode::kDataLoss, "the storage '0' a second time");
  EXPECT_EQ(load(twice).storages.size(), 2u);
}

TEST(Unpickler, SaysWhereAPickleEnds) {
  const std::string both = kStart + "K\x01." + kStart + "K\x02.";
  const Pickle first = unpickle(both, "test");
  EXPECT_EQ(first.bytes, 5u);
  EXPECT_EQ(root(unpickle(std::string_view(both).substr(5), "test", 5)).integer, 2);
  EXPECT_ERROR(unpickle("\x80\x02z", "test", 1000), ErrorCode::kDataLoss, "byte 1002");
}

}  // namespace
}  // namespace tandem::pickle
