// Calls before Tandem is loaded and after it was shut down. The tests run in this order, in one process.
#include <deque>
#include <limits>

#include "capi/calls.h"
#include "capi/misuse/arguments.h"
#include "capi/misuse/folder.h"
#include "capi/misuse/refusal.h"

namespace {

using namespace misuse;

TEST(Closed, BeforeLoadingGettersAndFreesDoNothing) {
  for (const Function& function : functions()) {
    if (function.fallible) continue;
    SCOPED_TRACE(function.name);
    const std::vector<Slot> nothing(function.parameters.size() + 1);
    EXPECT_EQ(function.call(nothing.data()), nullptr);
  }
  EXPECT_STREQ(tdm_libtorch_version(), "") << "one of them loaded LibTorch";
}

TEST(Closed, LoadsNothingForOptionsThatCannotBe) {
  tdm_load_options options = TDM_LOAD_OPTIONS_INIT;
  for (const tdm_load_device device : {-1, 3, 99, std::numeric_limits<std::int32_t>::max()}) {
    options.device = device;
    EXPECT_REFUSED(tdm_load(&options), TDM_ERROR_INVALID_ARGUMENT, "device");
  }
  options = TDM_LOAD_OPTIONS_INIT;
  options.struct_size = 0;
  EXPECT_REFUSED(tdm_load(&options), TDM_ERROR_INVALID_ARGUMENT, "struct_size");
  options = TDM_LOAD_OPTIONS_INIT;
  const std::string endless(1 << 20, 'x');
  for (const char* folder : {"/no-such-folder", "\xff\xfe", endless.c_str()}) {
    options.libtorch = folder;
    tdm_error* error = tdm_load(&options);
    EXPECT_TRUE(error != nullptr);
    EXPECT_TRUE(is_clean(error, "tdm_load"));
    tdm_error_free(error);
  }
  EXPECT_STREQ(tdm_libtorch_version(), "");
}

TEST(Closed, AfterShutdownEveryCallIsRefused) {
  std::deque<Arguments> all;
  std::vector<const Function*> called;
  for (const Function& function : functions()) {
    if (function.name == "tdm_shutdown") continue;
    SCOPED_TRACE(function.name);
    called.push_back(&function);
    all.emplace_back(function);
  }
  EXPECT_OK(tdm_shutdown(std::numeric_limits<std::int64_t>::max()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(called[i]->name);
    tdm_error* error = called[i]->call(all[i].data());
    if (called[i]->fallible) {
      EXPECT_NE(error, nullptr);
      EXPECT_EQ(tdm_error_get_code(error), TDM_ERROR_CLOSED) << tdm_error_message(error);
      EXPECT_TRUE(is_clean(error, called[i]->name));
      EXPECT_FALSE(all[i].outputs_touched());
    }
    if (called[i]->name == "tdm_error_free") all[i].handles().forget("error");
    tdm_error_free(error);
  }
  all.clear();
  for (const char* type :
       {"tensor", "module", "optimizer", "store", "process_group", "work", "ddp", "loader", "hook", "callback", "scope",
        "recordio_reader", "recordio_writer", "string", "error", "dataset", "sampler", "strings"}) {
    EXPECT_EQ(tdm_live_count(type), 0) << type;
  }
}

TEST(Closed, ShutdownTakesAnyTimeout) {
  EXPECT_OK(tdm_shutdown(std::numeric_limits<std::int64_t>::min()));
  EXPECT_OK(tdm_shutdown(-1));
  EXPECT_OK(tdm_shutdown(0));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Folder folder;
  return RUN_ALL_TESTS();
}
