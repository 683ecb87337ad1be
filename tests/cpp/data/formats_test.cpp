// Files of other programs' formats, byte by byte as their definitions have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "cpp/data/expect_error.h"
#include "cpp/data/records.h"
#include "cpp/data/temp_dir.h"
#include "data/formats/mxnet_list.h"
#include "tandem/mxnet_image.h"
#include "tandem/open_records.h"

namespace tandem::formats_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

FileBytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

void append(FileBytes& bytes, const std::string& text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

template <typename Number>
void append_number(FileBytes& bytes, Number number) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&number);
  bytes.insert(bytes.end(), from, from + sizeof number);
}

class FormatTest : public testing::Test {
 protected:
  std::unique_ptr<RecordSource> open(const FileBytes& bytes, RecordFormat format = RecordFormat::kDetect,
                                     const std::string& name = "f") {
    write_file(dir_ / name, bytes);
    return open_records({dir_ / name}, {.format = format});
  }
  Records read(const FileBytes& bytes, RecordFormat format = RecordFormat::kDetect, const std::string& name = "f") {
    return read_records(*open(bytes, format, name));
  }
  void expect_damaged(const FileBytes& bytes, RecordFormat format, const std::string& part) {
    EXPECT_ERROR(read(bytes, format), ErrorCode::kDataLoss, dir_ / "f", part);
  }
  // Whatever is cut off, records of a part of the file or an error come.
  void expect_truncation_found(const FileBytes& bytes, RecordFormat format, const Records& records,
                               const std::vector<std::size_t>& whole) {
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const FileBytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      if (std::ranges::find(whole, size) != whole.end()) {
        const Records some = read(part, format);
        EXPECT_TRUE(some.size() < records.size() && std::equal(some.begin(), some.end(), records.begin())) << size;
      } else {
        expect_damaged(part, format, "");
      }
    }
  }

  const TempDir dir_;
};

// ---- TFRecord: "abc" and "", made with Python's struct from the format's definition.
const FileBytes kTFRecord = {3,    0, 0, 0, 0, 0, 0, 0, 0xb0, 0x99, 0x49, 0x0e, 'a',  'b',  'c',  0x6e, 0x57, 0xf1,
                             0x21, 0, 0, 0, 0, 0, 0, 0, 0,    0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2};

TEST_F(FormatTest, TFRecord) {
  const auto source = open(kTFRecord);
  EXPECT_EQ(read_records(*source), (Records{"abc", ""}));
  EXPECT_EQ(source->place(1), dir_ / "f" + ", record 1 at byte 19");
  expect_truncation_found(kTFRecord, RecordFormat::kTFRecord, {"abc", ""}, {19});
}

TEST_F(FormatTest, TFRecordFindsEveryFlippedBit) {
  for (std::size_t bit = 0; bit < kTFRecord.size() * 8; ++bit) {
    FileBytes flipped = kTFRecord;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    expect_damaged(flipped, RecordFormat::kTFRecord, "record ");
  }
}

TEST_F(FormatTest, TFRecordFingerprintSeesContent) {
  FileBytes other = kTFRecord;
  other[12] = 'x';
  other[15] ^= 1;  // its checksum, which opening does not check
  EXPECT_NE(open(other)->fingerprint(), open(kTFRecord)->fingerprint());
}

// ---- RecordIO of dmlc
void append_part(FileBytes& file, std::uint32_t kind, const std::string& part) {
  append_number(file, std::uint32_t{0xced7230a});
  append_number(file, kind << 29 | static_cast<std::uint32_t>(part.size()));
  append(file, part);
  file.resize((file.size() + 3) / 4 * 4);
}
const std::string kMagicText = "\x0a\x23\xd7\xce";

FileBytes dmlc_file() {
  FileBytes file;
  append_part(file, 0, "hello");
  append_part(file, 1, "abcd");  // cut twice where the magic number was
  append_part(file, 2, "");
  append_part(file, 3, "xyz");
  append_part(file, 0, "");
  return file;
}
const Records kDmlcRecords = {"hello", "abcd" + kMagicText + kMagicText + "xyz", ""};

TEST_F(FormatTest, Dmlc) {
  EXPECT_EQ(read(dmlc_file()), kDmlcRecords);
  expect_truncation_found(dmlc_file(), RecordFormat::kDmlc, kDmlcRecords, {16, 16 + 12 + 8 + 12});
}

TEST_F(FormatTest, DmlcThroughItsIndex) {
  write_file(dir_ / "f.idx", bytes_of("7\t16\n3\t0\r\n9\t48"));
  const auto source = open(dmlc_file(), RecordFormat::kDetect, "f.rec");
  EXPECT_EQ(read_records(*source), (Records{kDmlcRecords[1], kDmlcRecords[0], kDmlcRecords[2]}));
  EXPECT_EQ(source->place(0), dir_ / "f.rec" + ", record 0 at byte 16");
  for (const std::string wrong : {"7\n", "7\tx\n", "7\t5\n", "7\t4000\n", "7\t16 \n"}) {
    write_file(dir_ / "f.idx", bytes_of("1\t0\n" + wrong));
    EXPECT_ERROR(open(dmlc_file(), RecordFormat::kDetect, "f.rec"), ErrorCode::kDataLoss, "f.idx: line 2", "remove it");
  }
  write_file(dir_ / "f.idx", bytes_of("1\t28\n"));  // a middle part
  EXPECT_ERROR(read(dmlc_file(), RecordFormat::kDetect, "f.rec"), ErrorCode::kDataLoss, "byte 28", "remove", "f.idx");
}

TEST_F(FormatTest, DmlcDamage) {
  FileBytes file = dmlc_file();
  file[4] = 0xff;
  expect_damaged(file, RecordFormat::kDmlc, "past the file's end");
  file = dmlc_file();
  file[16] ^= 1;
  expect_damaged(file, RecordFormat::kDmlc, "wrong magic number");
  FileBytes alone;
  append_part(alone, 3, "end");
  expect_damaged(alone, RecordFormat::kDmlc, "can stand there");
}

TEST_F(FormatTest, MxNetImageHeader) {
  FileBytes record;
  append_number(record, std::uint32_t{0});
  append_number(record, 3.5f);
  append_number(record, std::uint64_t{17});
  append_number(record, std::uint64_t{1} << 40);
  append(record, "jpeg");
  const MxNetImage one = parse_mxnet_image(record);
  EXPECT_THAT(one.labels, ElementsAre(3.5f));
  EXPECT_EQ(one.id, 17u);
  EXPECT_EQ(one.id2, std::uint64_t{1} << 40);
  EXPECT_EQ(text_of(one.content), "jpeg");
  record[0] = 1;  // "jpeg" is a label now
  EXPECT_EQ(parse_mxnet_image(record).labels.size(), 1u);
  EXPECT_TRUE(parse_mxnet_image(record).content.empty());
  record[3] = 0xff;
  EXPECT_ERROR(parse_mxnet_image(record), ErrorCode::kDataLoss, "labels");
  EXPECT_ERROR(parse_mxnet_image({record.data(), 23}), ErrorCode::kDataLoss, "too short");
}

TEST_F(FormatTest, MxNetList) {
  write_file(dir_ / "l", bytes_of("0\t1.0\tcat/1.jpg\n12.0\t0\t2.5\tdog/a b.jpg\r\n"));
  const auto listed = formats::read_mxnet_list(dir_ / "l");
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_THAT(listed[1].labels, ElementsAre(0.f, 2.5f));
  EXPECT_EQ(listed[1].id, 12u);
  EXPECT_EQ(listed[1].path, "dog/a b.jpg");
  for (const std::string wrong : {"0\tcat.jpg", "a\t1\tcat.jpg", "0\tx\tcat.jpg", "0\t1\t", "-1\t1\tcat.jpg"}) {
    write_file(dir_ / "l", bytes_of("0\t1\tok\n" + wrong + "\n"));
    EXPECT_ERROR(formats::read_mxnet_list(dir_ / "l"), ErrorCode::kInvalidArgument, "line 2", ".lst");
  }
}

// ---- tar
FileBytes tar_block(const std::string& name, std::uint64_t size, char kind = '0', const std::string& prefix = "") {
  FileBytes block(512);
  std::memcpy(block.data(), name.data(), name.size());
  std::snprintf(reinterpret_cast<char*>(block.data()) + 100, 8, "%07o", 0644);
  std::snprintf(reinterpret_cast<char*>(block.data()) + 124, 12, "%011lo", static_cast<unsigned long>(size));
  block[156] = static_cast<std::uint8_t>(kind);
  std::memcpy(block.data() + 257, "ustar\00000", 8);
  std::memcpy(block.data() + 345, prefix.data(), prefix.size());
  unsigned sum = 8 * ' ';
  for (const std::uint8_t byte : block) sum += byte;
  std::snprintf(reinterpret_cast<char*>(block.data()) + 148, 8, "%06o", sum);
  return block;
}

void append_member(FileBytes& tar, const std::string& name, const std::string& content, char kind = '0',
                   const std::string& prefix = "") {
  const FileBytes block = tar_block(name, content.size(), kind, prefix);
  tar.insert(tar.end(), block.begin(), block.end());
  append(tar, content);
  tar.resize((tar.size() + 511) / 512 * 512);
}

// A record of a tar, as MessagePack.
std::string sample(const std::string& key, const std::vector<std::pair<std::string, std::string>>& parts) {
  const auto text = [](const std::string& text) { return static_cast<char>(0xa0 + text.size()) + text; };
  std::string record(1, static_cast<char>(0x81 + parts.size()));
  record += text("__key__") + text(key);
  for (const auto& [extension, content] : parts) {
    record += text(extension) + '\xc4' + static_cast<char>(content.size()) + content;
  }
  return record;
}

TEST_F(FormatTest, TarsSamplesAreFilesOfOneStem) {
  FileBytes tar;
  append_member(tar, "train/", "", '5');
  append_member(tar, "train/0001.jpg", "JPEG");
  append_member(tar, "train/0001.CLS", "7");
  append_member(tar, "train/.hidden", "x");
  append_member(tar, "0002.seg.png", "", '0', "train");
  append_member(tar, "a.b/0002", "plain");
  tar.resize(tar.size() + 1024);
  const auto source = open(tar);
  EXPECT_EQ(read_records(*source),
            (Records{sample("train/0001", {{"jpg", "JPEG"}, {"cls", "7"}}), sample("train/0002", {{"seg.png", ""}}),
                     sample("a.b/0002", {{"", "plain"}})}));
  EXPECT_EQ(source->place(1), dir_ / "f" + ", sample 1 at byte 3584");
}

TEST_F(FormatTest, TarsLongNamesAndSizes) {
  const std::string name = std::string(150, 'd') + "/1.txt", path = "16 path=p/1.txt\n", size = "10 size=3\n";
  FileBytes tar;
  append_member(tar, "././@LongLink", name + '\0', 'L');
  append_member(tar, "ddd", "abc");
  append_member(tar, "PaxHeaders/1", "20 mtime=123456.789\n" + path, 'x');
  append_member(tar, "shortened", "def");
  append_member(tar, "g", "12 comment=\n", 'g');
  // A size that only the pax header has.
  append_member(tar, "PaxHeaders/2", size, 'x');
  append_member(tar, "2.txt", "ghi");
  const FileBytes lying = tar_block("2.txt", 0);
  std::copy(lying.begin(), lying.end(), tar.end() - 1024);
  const Records records = read(tar);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[0], HasSubstr(std::string(150, 'd') + "/1"));
  EXPECT_EQ(records[1], sample("p/1", {{"txt", "def"}}));
  EXPECT_EQ(records[2], sample("2", {{"txt", "ghi"}}));
}

TEST_F(FormatTest, TarDamage) {
  FileBytes tar;
  append_member(tar, "1.txt", "abc");
  const FileBytes good = tar;
  append_member(tar, "2.txt", "abc");
  tar.resize(1024 + 512 + 2);
  expect_damaged(tar, RecordFormat::kTar, "past the file's end");
  tar.resize(1024 + 511);
  expect_damaged(tar, RecordFormat::kTar, "byte 1024 is cut off");
  tar = good;
  append_member(tar, "1.txt", "again");
  expect_damaged(tar, RecordFormat::kTar, "two files '1.txt'");
  tar = good;
  tar[3] ^= 1;
  expect_damaged(tar, RecordFormat::kTar, "checksum");
  tar = good;
  append_member(tar, "sparse", "", 'S');
  expect_damaged(tar, RecordFormat::kTar, "sparse");
  for (const std::string pax : {"99 path=x\n", "x", "8 path=x\n", "3 \n", "12 size=1e9\n"}) {
    tar = good;
    append_member(tar, "pax", pax, 'x');
    append_member(tar, "3.txt", "");
    expect_damaged(tar, RecordFormat::kTar, "byte 1024");
  }
  tar = good;
  const FileBytes block = tar_block("huge", (1ull << 33) - 1);
  tar.insert(tar.end(), block.begin(), block.end());
  expect_damaged(tar, RecordFormat::kTar, "past the file's end");
}

// ---- IDX
FileBytes gzipped(const FileBytes& bytes, const std::string& scratch) {
  gzFile file = gzopen(scratch.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  FileBytes compressed = read_file(scratch);
  std::filesystem::remove(scratch);
  return compressed;
}

TEST_F(FormatTest, Idx) {
  const FileBytes images = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 'a', 'b', 'c', 'd', 'e', 'f'};
  const FileBytes labels = {0, 0, 8, 1, 0, 0, 0, 2, 4, 9};
  for (const bool compressed : {false, true}) {
    write_file(dir_ / "images", compressed ? gzipped(images, dir_ / "z") : images);
    write_file(dir_ / "labels", compressed ? gzipped(labels, dir_ / "z") : labels);
    EXPECT_EQ(read_records(*open_records({dir_ / "images"})), (Records{"abc", "def"}));
    EXPECT_EQ(read_records(*open_records({dir_ / "images", dir_ / "labels"}, {.format = RecordFormat::kMnist})),
              (Records{"\4abc", "\tdef"}));
  }
  EXPECT_ERROR(open_records({dir_ / "images"}, {.format = RecordFormat::kMnist}), ErrorCode::kInvalidArgument, "pairs");
}

TEST_F(FormatTest, IdxElementsBecomeLittleEndian) {
  EXPECT_EQ(read({0, 0, 0x0b, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4}), (Records{"\2\1\4\3"}));
  EXPECT_EQ(read({0, 0, 0x0e, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}), (Records{"\b\a\6\5\4\3\2\1"}));
}

TEST_F(FormatTest, IdxDamage) {
  expect_damaged({0, 0, 8, 1, 0, 0, 0, 2, 4}, RecordFormat::kDetect, "ends inside item 1");
  expect_damaged({0, 0, 8, 1, 0, 0, 0, 2, 4, 5, 6}, RecordFormat::kDetect, "bytes after the 2 items");
  expect_damaged({0, 0, 8, 9, 0}, RecordFormat::kIdx, "magic number of IDX");
  expect_damaged({0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                 RecordFormat::kDetect, "impossible size");
  FileBytes lying = gzipped({0, 0, 8, 1, 0xff, 0xff, 0xff, 0xff, 4}, dir_ / "z");
  expect_damaged(lying, RecordFormat::kDetect, "ends inside item 1");
  lying.resize(lying.size() - 5);
  expect_damaged(lying, RecordFormat::kIdx, "compressed data");
}

// ---- CIFAR
FileBytes cifar(int records, std::size_t labels, std::uint8_t limit) {
  FileBytes file;
  for (int i = 0; i < records; ++i) {
    for (std::size_t k = 0; k < labels; ++k) file.push_back(static_cast<std::uint8_t>((i * 7) % limit));
    file.resize(file.size() + 3072, static_cast<std::uint8_t>(200 + i));
  }
  return file;
}

TEST_F(FormatTest, Cifar) {
  const Records ten = read(cifar(12, 1, 10)), hundred = read(cifar(12, 2, 20));
  ASSERT_EQ(ten.size(), 12u);
  EXPECT_EQ(ten[2], "\4" + std::string(3072, static_cast<char>(202)));
  ASSERT_EQ(hundred.size(), 12u);
  EXPECT_EQ(hundred[1].size(), 3074u);
  FileBytes file = cifar(3, 1, 10);
  file[3073] = 10;
  EXPECT_ERROR(open(file), ErrorCode::kInvalidArgument, "say which format");
  expect_damaged(file, RecordFormat::kCifar10, "record 1 has a label");
  file.pop_back();
  expect_damaged(file, RecordFormat::kCifar10, "cut off");
  EXPECT_NE(open(cifar(3, 1, 10))->fingerprint(), open(cifar(3, 1, 9))->fingerprint());
}

// ---- lines
TEST_F(FormatTest, Lines) {
  EXPECT_EQ(read(bytes_of("one\n\ntwo\r\nthree")), (Records{"one", "", "two", "three"}));
  EXPECT_EQ(read(bytes_of("\xef\xbb\xbfgr\xc3\xbc\xc3\x9f\n")), (Records{"gr\xc3\xbc\xc3\x9f"}));
  EXPECT_EQ(read(bytes_of("\n")), (Records{""}));
  EXPECT_EQ(read(bytes_of("end\r")), (Records{"end"}));
  EXPECT_EQ(read(bytes_of("\r\n\r\n")), (Records{"", ""}));
}

TEST_F(FormatTest, LinesAreFoundAcrossWindows) {
  Records records;
  std::string text;
  for (int i = 0; i < 400; ++i) {
    records.emplace_back(static_cast<std::size_t>(i * 37 % 20000), static_cast<char>('a' + i % 26));
    text += records.back() + (i % 2 ? "\n" : "\r\n");
  }
  ASSERT_GT(text.size(), 2u << 20);
  EXPECT_EQ(read(bytes_of(text)), records);
  // The \r is the last byte of a window, the \n the first of the next.
  EXPECT_EQ(read(bytes_of(std::string((1 << 20) - 1, 'x') + "\r\ny")), (Records{std::string((1 << 20) - 1, 'x'), "y"}));
}

TEST_F(FormatTest, NdjsonHasNoEmptyLines) {
  EXPECT_EQ(read(bytes_of("{\"a\":1}\n\n{\"a\":2}\n")), (Records{"{\"a\":1}", "{\"a\":2}"}));
}

TEST_F(FormatTest, CsvFieldsMayHoldLineEnds) {
  const FileBytes csv = bytes_of("name,text\r\nx,\"two\nlines, \"\"quoted\"\"\"\n\ny,z\n");
  const Records records = {"name,text", "x,\"two\nlines, \"\"quoted\"\"\"", "y,z"};
  EXPECT_EQ(read(csv, RecordFormat::kDetect, "f.csv"), records);
  EXPECT_EQ(read(csv, RecordFormat::kCsv), records);
  EXPECT_EQ(read(csv).size(), 5u);  // nothing says that it is CSV
  expect_damaged(bytes_of("a\n\"b\nc\n"), RecordFormat::kCsv, "record at byte 2 does not end");
}

TEST_F(FormatTest, TextIsToldFromNoise) {
  EXPECT_ERROR(open(bytes_of(std::string("a\0b", 3))), ErrorCode::kInvalidArgument, "say which format");
  EXPECT_ERROR(open({0xc3, 0x28, '\n'}), ErrorCode::kInvalidArgument, "say which format");
  EXPECT_EQ(read({0xc3}).size(), 1u);  // cut in a character
  EXPECT_NE(open(bytes_of("a\nb\n"))->fingerprint(), open(bytes_of("a\nc\n"))->fingerprint());
}

}  // namespace
}  // namespace tandem::formats_test
