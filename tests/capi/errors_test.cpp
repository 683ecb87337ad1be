// What errors of LibTorch say, and what TANDEM_BACKTRACE adds.
#include <cstdlib>

#include "capi/calls.h"

namespace {

using namespace calls;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// calls::message() itself expects no C++ stack in any error.
std::string text(tdm_error* owned) {
  const Error error(owned);
  EXPECT_NE(owned, nullptr);
  return error ? tdm_error_message(owned) : "";
}

tdm_error* run(const char* name, const char* overload, const std::vector<tdm_value>& arguments) {
  tdm_value result{};
  tdm_error* error = call(find(name, overload), arguments, &result);
  tdm_value_clear(&result);
  return error;
}

class Errors : public testing::Test {
 protected:
  void SetUp() override { unsetenv("TANDEM_BACKTRACE"); }
  void TearDown() override { unsetenv("TANDEM_BACKTRACE"); }

  const Tensor square = tensor({1, 2, 3, 4}, {2, 2}), three = tensor({1, 2, 3}, {3});
};

TEST_F(Errors, BeginWithTheOperator) {
  EXPECT_EQ(
      message(run("aten::add", "Tensor", {of(square), of(three)}), TDM_ERROR_INVALID_ARGUMENT),
      "aten::add.Tensor: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1");
  EXPECT_EQ(message(run("aten::bitwise_and", "Tensor", {of(square), of(square)}), TDM_ERROR_UNSUPPORTED),
            "aten::bitwise_and.Tensor: \"bitwise_and_cpu\" not implemented for 'Float'");
  EXPECT_THAT(message(run("aten::mm", "", {of(square), of(three)}), TDM_ERROR_INVALID_ARGUMENT),
              StartsWith("aten::mm: "));
}

TEST_F(Errors, SayWhatHasAKernel) {
  const std::string found = message(run("aten::q_scale", "", {of(square)}), TDM_ERROR_UNSUPPORTED);
  EXPECT_EQ(found,
            "aten::q_scale: Could not run 'aten::q_scale' with arguments from the 'CPU' backend. It has kernels for "
            "QuantizedCPU.");
}

TEST_F(Errors, ShowTheStackWhenAsked) {
  const auto add = [&] { return text(run("aten::add", "Tensor", {of(square), of(three)})); };
  EXPECT_THAT(add(), Not(HasSubstr("frame #")));
  setenv("TANDEM_BACKTRACE", "0", 1);
  EXPECT_THAT(add(), Not(HasSubstr("frame #")));
  setenv("TANDEM_BACKTRACE", "1", 1);
  const std::string whole = add();
  EXPECT_THAT(whole, StartsWith("aten::add.Tensor: The size of tensor a (2)"));
  EXPECT_THAT(whole, HasSubstr("Exception raised from"));
  EXPECT_THAT(whole, HasSubstr("frame #"));
  EXPECT_THAT(text(run("aten::q_scale", "", {of(square)})), HasSubstr("QuantizedCPU: registered at"));
}

}  // namespace
