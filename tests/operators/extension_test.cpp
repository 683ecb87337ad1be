// Operators of a library that is loaded while the program runs.
#include <cstdio>
#include <fstream>

#include "capi/calls.h"

namespace {

using namespace calls;

TEST(LoadLibrary, MakesItsOperatorsCallable) {
  const tdm_op* op = nullptr;
  EXPECT_REFUSED(tdm_op_find("tandem_test::scaled_sum", "", &op), TDM_ERROR_NOT_FOUND, "tandem_test::scaled_sum");
  ASSERT_EQ(tdm_load_library(EXTENSION), nullptr);
  ASSERT_EQ(tdm_load_library(EXTENSION), nullptr);
  const Tensor x = tensor({1, 2, 3}, {3});
  tdm_value results[2] = {};
  ASSERT_EQ(calls::call(find("tandem_test::scaled_sum"), {of(x), of(10.0)}, results), nullptr);
  EXPECT_THAT(floats(results[0].as.tensor), testing::ElementsAre(60));
  EXPECT_EQ(results[1].as.integer, 3);
  tdm_value_clear(&results[0]);
}

TEST(LoadLibrary, SaysWhyItCannot) {
  EXPECT_REFUSED(tdm_load_library(nullptr), TDM_ERROR_INVALID_ARGUMENT, "'path'");
  EXPECT_REFUSED(tdm_load_library("libm.so.6"), TDM_ERROR_INVALID_ARGUMENT, "./libm.so.6");
  EXPECT_REFUSED(tdm_load_library("/no/such/library.so"), TDM_ERROR_NOT_FOUND, "/no/such/library.so");
  const std::string file = testing::TempDir() + "no_library.so";
  std::ofstream(file) << "text";
  EXPECT_REFUSED(tdm_load_library(file.c_str()), TDM_ERROR_LIBRARY, tdm_libtorch_version());
  std::remove(file.c_str());
}

}  // namespace
