// What loading leaves in memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tandem/tandem.h"

namespace {

// Resident kilobytes of libtorch_cpu.so that are pages of the file itself.
long resident_file_kb() {
  std::ifstream smaps("/proc/self/smaps");
  bool ours = false;
  long total = 0, resident = 0, anonymous = 0;
  char access[5];
  for (std::string line; std::getline(smaps, line);) {
    if (std::sscanf(line.c_str(), "%*x-%*x %4s", access) == 1)
      ours = line.find("/libtorch_cpu.so") != std::string::npos;
    if (!ours) continue;
    if (std::sscanf(line.c_str(), "Rss: %ld", &resident) == 1) continue;
    if (std::sscanf(line.c_str(), "Anonymous: %ld", &anonymous) == 1) total += resident - anonymous;
  }
  return total;
}

TEST(Resident, LoadingLeavesFewPagesOfLibTorchBehind) {
  tdm_error* error = tdm_load(nullptr);
  ASSERT_EQ(error, nullptr) << tdm_error_message(error);
  // It is about 70 MB when the pages that loading touched stay.
  EXPECT_LT(resident_file_kb(), 30 << 10);
  // And what was let go comes back when it is used.
  tdm_tensor* tensor = nullptr;
  const float one = 1;
  ASSERT_EQ(tdm_tensor_from_data(&one, sizeof one, TDM_DTYPE_FLOAT32, nullptr, 0, &tensor), nullptr);
  const tdm_op* add = nullptr;
  ASSERT_EQ(tdm_op_find("aten::add", "Tensor", &add), nullptr);
  tdm_value arguments[2] = {};
  arguments[0].tag = arguments[1].tag = TDM_VALUE_TENSOR;
  arguments[0].as.tensor = arguments[1].as.tensor = tensor;
  tdm_value sum;
  ASSERT_EQ(tdm_op_call(add, arguments, 2, &sum, 1), nullptr);
  double value = 0;
  ASSERT_EQ(tdm_tensor_item_double(sum.as.tensor, &value), nullptr);
  EXPECT_EQ(value, 2);
  tdm_value_clear(&sum);
  tdm_tensor_free(tensor);
  ASSERT_EQ(tdm_shutdown(10000), nullptr);
}

}  // namespace
