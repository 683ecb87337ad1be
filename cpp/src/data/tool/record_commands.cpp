#include "data/tool/record_commands.h"

#include "data/tool/commands.h"

namespace tandem {

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
  add_digits(app);
}

}  // namespace tandem
