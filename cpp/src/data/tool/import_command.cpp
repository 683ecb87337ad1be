#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/shown_path.h"
#include "data/data_file.h"
#include "data/formats/msgpack.h"
#include "data/formats/mxnet_list.h"
#include "data/formats/tar_files.h"
#include "data/tool/commands.h"
#include "data/tool/options.h"
#include "data/tool/progress.h"
#include "tandem/error.h"

namespace tandem::data_tool {
namespace {

namespace fs = std::filesystem;

// An image and what is known of it.
struct Image {
  std::string name;  // in the folder or tar
  std::vector<double> labels;
  std::function<Record()> content;
};

struct Images {
  std::vector<Image> images;
  std::vector<std::string> classes;  // names of labels, where they come from folders
};

bool is_image(const std::string& name) {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* ending : {".jpg", ".jpeg", ".png"}) {
    if (lower.ends_with(ending)) return true;
  }
  return false;
}

// The label of "CLASS/…/NAME" is CLASS's place among the classes by name.
Images label_by_folder(std::vector<Image> images, const std::string& where) {
  std::map<std::string, double> classes;
  const auto class_of = [](const Image& image) { return image.name.substr(0, image.name.find('/')); };
  for (const Image& image : images) {
    if (image.name.find('/') == std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument, where + " has the image " + image.name +
                                                   " outside of a class's folder; its images must be CLASS/NAME.jpg");
    }
    classes[class_of(image)] = 0;
  }
  Images result;
  for (auto& [name, label] : classes) {
    label = static_cast<double>(result.classes.size());
    result.classes.push_back(name);
  }
  for (Image& image : images) image.labels = {classes[class_of(image)]};
  std::ranges::sort(images, {}, &Image::name);
  result.images = std::move(images);
  return result;
}

std::function<Record()> content_of_file(std::string path) {
  return [path = std::move(path)]() -> Record {
    const std::shared_ptr<DataFile> file = open_data_file(path);
    Record whole = file->read(0, file->size());
    if (!whole.owner) whole.owner = file;
    return whole;
  };
}

Images images_of_folder(const std::string& folder) {
  std::vector<Image> images;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink)) {
    // What else is no file, such as a link to nothing, is not left out: reading it fails.
    if (entry.is_directory() || !is_image(entry.path())) continue;
    // By name: a class may be a link, and so may its files be, to where others keep them.
    images.push_back({entry.path().lexically_relative(folder).generic_string(), {}, content_of_file(entry.path())});
  }
  return label_by_folder(std::move(images), folder);
}

Images images_of_tar(const std::string& path) {
  const std::shared_ptr<DataFile> file = open_data_file(path);
  std::vector<Image> images;
  for (const formats::TarFile& member : formats::list_tar(*file)) {
    const std::string name = member.name.starts_with("./") ? member.name.substr(2) : member.name;
    if (!is_image(name)) continue;
    images.push_back({name, {}, [file, member] { return file->read(member.content, member.size); }});
  }
  return label_by_folder(std::move(images), file->name());
}

Images images_of_list(const std::string& list, const std::string& root) {
  Images result;
  const fs::path folder = root.empty() ? fs::path(list).parent_path() : fs::path(root);
  for (const auto& listed : formats::read_mxnet_list(list)) {
    result.images.push_back(
        {listed.path, {listed.labels.begin(), listed.labels.end()}, content_of_file(folder / listed.path)});
  }
  return result;
}

std::vector<std::uint8_t> encode(const Image& image, std::span<const std::uint8_t> content) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(content.size() + image.name.size() + 64);
  formats::MsgpackWriter writer(bytes);
  writer.map_head(3);
  writer.text("image");
  writer.binary(content);
  writer.text("label");
  const auto label = [&](double value) {
    if (value >= 0 && value == std::floor(value) && value < 1e15) {
      writer.number(static_cast<std::uint64_t>(value));
    } else {
      writer.real(value);
    }
  };
  if (image.labels.size() == 1) {
    label(image.labels[0]);
  } else {
    writer.array_head(static_cast<std::uint32_t>(image.labels.size()));
    for (const double value : image.labels) label(value);
  }
  writer.text("name");
  writer.text(image.name);
  return bytes;
}

void write_images(const Images& images, const Output& output, const std::string& from) {
  if (images.images.empty()) {
    throw Error(ErrorCode::kNotFound,
                shown_path(from) + " has no images, files whose names end in .jpg, .jpeg or .png");
  }
  RecordIOMetadata known;
  if (!images.classes.empty()) known.user["classes"] = nlohmann::json(images.classes).dump();
  const RecordIOWriterOptions options = output.options(known);
  RecordIOWriter writer(output.path(), options);
  Progress progress(output.path(), static_cast<std::int64_t>(images.images.size()));
  for (const Image& image : images.images) {
    const Record content = image.content();
    writer.write(encode(image, content.bytes));
    progress.add();
  }
  require_all_read(output.path());
  writer.close();
  std::printf("%s: %" PRId64 " records", output.path().c_str(), writer.written());
  if (!images.classes.empty()) std::printf(" of %zu classes", images.classes.size());
  std::printf("\n");
}

void write_mnist(const std::string& one, const std::string& other, const Output& output) {
  // Images have three dimensions, labels one.
  const auto first = open_records({one}, {.format = RecordFormat::kIdx});
  const bool images_first = first->size() == 0 || first->read(0).bytes.size() > 1;
  const auto source =
      open_records({images_first ? one : other, images_first ? other : one}, {.format = RecordFormat::kMnist});
  RecordIOWriter writer(output.path(), output.options());
  Progress progress(output.path(), source->size());
  for (std::int64_t i = 0; i < source->size(); ++i, progress.add()) writer.write(source->read(i).bytes);
  require_all_read(output.path());
  writer.close();
  std::printf("%s: %" PRId64 " records\n", output.path().c_str(), writer.written());
}

}  // namespace

void add_import(CLI::App& record) {
  struct Flags {
    std::vector<std::string> from;
    std::string root;
    Output output;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = record.add_subcommand(
      "import",
      "Make records of a data set: a folder or tar of CLASS/NAME.jpg, MXNet's .lst, or MNIST's two IDX files");
  command->add_option("from", flags->from, "The folder, tar or list; or the IDX files of images and labels")
      ->required()
      ->expected(1, 2);
  command->add_option("--root", flags->root, "Folder that a list's paths begin in; its own without this");
  flags->output.add_to(*command);
  command->callback([flags] {
    const std::string& from = flags->from[0];
    if (flags->from.size() == 2) return write_mnist(from, flags->from[1], flags->output);
    std::error_code ignored;
    if (fs::is_directory(from, ignored)) return write_images(images_of_folder(from), flags->output, from);
    if (from.ends_with(".lst")) return write_images(images_of_list(from, flags->root), flags->output, from);
    const RecordFormat format = detect_record_format(from);
    if (format == RecordFormat::kTar) return write_images(images_of_tar(from), flags->output, from);
    if (format == RecordFormat::kIdx) {
      throw Error(ErrorCode::kInvalidArgument,
                  shown_path(from) + " is one IDX file; give two, of images and of labels");
    }
    throw Error(ErrorCode::kInvalidArgument, shown_path(from) +
                                                 " is neither a folder nor a tar of images nor a .lst; other formats "
                                                 "become RecordIO with `tandem record convert`");
  });
}

}  // namespace tandem::data_tool
