#include "exported/archive.h"

#include "base/shown_path.h"

namespace tandem::exported {

Archive::Archive(const std::string& path)
    : name_(shown_path(path)),
      file_(std::make_shared<const MappedFile>(path, MappedFile::Access::kCopyOnWrite)) {
  if (!weights::begins_as_zip(file_->bytes())) {
    damaged(name_, "is no archive of torch.export.save: it does not begin as a zip file");
  }
  // Files of other kinds, which are named below, compress some.
  members_ = weights::read_zip_directory(file_->bytes(), name_, weights::ZipMethods::kStoredOrDeflated);
  for (weights::ZipMember& member : members_) {
    const auto slash = member.name.find('/');
    if (slash != std::string::npos) member.name.erase(0, slash + 1);
    if (!by_name_.emplace(member.name, static_cast<std::size_t>(&member - members_.data())).second) {
      damaged(name_, "has the member '" + member.name + "' twice");
    }
  }
  check_kind();
  for (const weights::ZipMember& member : members_) {
    if (!member.deflated) continue;
    unsupported(name_, "has compressed members ('" + member.name + "'), which torch.export.save does not write; load it in "
                       "Python and save it again");
  }
}

void Archive::check_kind() const {
  if (find("serialized_exported_program.json")) {
    unsupported(name_, "is of torch.export before PyTorch 2.8; load and save it again with a newer one");
  }
  if (find("data.pkl")) {
    unsupported(name_, find("constants.pkl") ? "is a TorchScript module, not an archive of torch.export.save"
                                             : "was written by torch.save, not by torch.export.save");
  }
  const weights::ZipMember* order = find("byteorder");
  if (order && bytes(*order) != "little") unsupported(name_, "has numbers of another byte order");
  const weights::ZipMember* format = find("archive_format");
  if (format && bytes(*format) != "pt2") damaged(name_, "is no archive of torch.export.save");
}

const weights::ZipMember* Archive::find(const std::string& member) const {
  const auto found = by_name_.find(member);
  return found == by_name_.end() ? nullptr : &members_[found->second];
}

const weights::ZipMember& Archive::at(const std::string& member) const {
  const weights::ZipMember* found = find(member);
  if (!found) damaged(name_, "has no member '" + member + "'");
  return *found;
}

std::string_view Archive::bytes(const weights::ZipMember& member) const {
  return {reinterpret_cast<const char*>(file_->bytes().data()) + member.offset, member.size};
}

Json Archive::json(const std::string& member) const {
  const weights::ZipMember& found = at(member);
  try {
    Json document = parse_json_document(bytes(found));
    check(found);
    return document;
  } catch (const JsonFault& fault) {
    check(found);
    damaged(name_ + ": " + member, fault.what());
  }
}

}  // namespace tandem::exported
