// The members of a torch.export archive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "exported/json_fields.h"
#include "weights/zip_directory.h"

namespace tandem::exported {

class Archive {
 public:
  // Maps it. Throws tandem::Error: kNotFound, kIo, kDataLoss, kUnsupported.
  explicit Archive(const std::string& path);

  const std::string& name() const { return name_; }  // for messages
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  // Without the archive's own folder, in its order.
  const std::vector<weights::ZipMember>& members() const { return members_; }

  // Null where there is none.
  const weights::ZipMember* find(const std::string& member) const;
  const weights::ZipMember& at(const std::string& member) const;
  std::string_view bytes(const weights::ZipMember& member) const;
  Json json(const std::string& member) const;
  // The bytes were read: throws Error (kDataLoss, kIo) where the file had lost some by then.
  void check(const weights::ZipMember& member) const { file_->check(member.offset, member.size); }

 private:
  void check_kind() const;

  std::string name_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<weights::ZipMember> members_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace tandem::exported
