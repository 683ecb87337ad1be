#include "data/tool/record_commands.h"

#include "base/lost_pages.h"
#include "data/tool/commands.h"
#include "tandem/error.h"

namespace tandem {

void data_tool::require_all_read(const std::string& output) {
  if (begun_page_changes() == 0) return;  // also one that was over soon: it may have been written as zeros
  throw Error(ErrorCode::kDataLoss, output +
                                        " is not whole: a file was cut off, or its disk failed, while it was read; "
                                        "restore it and begin again");
}

void add_record_commands(CLI::App& app) {
  using namespace data_tool;
  CLI::App* record = app.add_subcommand("record", "Make, check and change files of records");
  record->require_subcommand(1);
  add_info(*record);
  add_cat(*record);
  add_verify(*record);
  add_index(*record);
  add_repair(*record);
  add_write(*record);
  add_import(*record);
  add_convert(*record);
  add_merge(*record);
  add_split(*record);
  add_shuffle(*record);
}

}  // namespace tandem
