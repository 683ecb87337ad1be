// What errors of LibTorch say, and what TANDEM_BACKTRACE adds.
#include <cstdlib>

#include "capi/calls.h"

namespace errors_test {
namespace {

using namespace calls;
using testing::HasSubstr;
using testing::Not;
using testing::MatchesRegex;
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
  EXPECT_THAT(found, MatchesRegex("aten::q_scale: Could not run 'aten::q_scale' with arguments from the 'CPU' backend. It "
                                  "has kernels for QuantizedCPU(, QuantizedCUDA)?."));
}

TEST_F(Errors, LeaveOutWhatIsForLibTorchsAuthors) {
  EXPECT_EQ(message(run("aten::_nested_view_from_buffer", "", {of(square), of(square), of(square), of(square)}),
                    TDM_ERROR_INTERNAL),
            "aten::_nested_view_from_buffer: a check inside LibTorch failed (buffer.dim() == 1): The input buffer must "
            "be flat");
  const std::vector<std::int64_t> vast = {std::int64_t{1} << 45};
  EXPECT_THAT(message(run("aten::ones", "", {ints(vast)}), TDM_ERROR_OUT_OF_MEMORY),
              StartsWith("aten::ones: DefaultCPUAllocator: can't allocate memory: you tried to allocate"));
  EXPECT_EQ(
      message(run("aten::_add_batch_dim", "", {of(square), of(std::int64_t{1} << 40), of(1)}), TDM_ERROR_OUT_OF_RANGE),
      "aten::_add_batch_dim: an argument counts further than there are elements");
  const std::vector<std::int64_t> least = {INT64_MIN};
  EXPECT_EQ(message(run("aten::ones", "", {ints(least)}), TDM_ERROR_INVALID_ARGUMENT),
            "aten::ones: argument 'size' (SymInt[]) cannot hold -9223372036854775808");
}

TEST_F(Errors, NameWhatNoValueCanBe) {
  const tdm_op* op = nullptr;
  if (const Error none{tdm_op_find("aten::softmax", "Dimname", &op)}) {
    GTEST_SKIP() << "LibTorch " << tdm_libtorch_version() << " has no operators on names of dimensions";
  }
  const char* const names = "argument 'dim' (str) takes names of dimensions";
  EXPECT_THAT(message(run("aten::softmax", "Dimname", {of(square), of("x")}), TDM_ERROR_UNSUPPORTED), HasSubstr(names));
  EXPECT_THAT(message(run("aten::softmax", "Dimname", {of(square), tagged(TDM_VALUE_DEFAULT)}), TDM_ERROR_UNSUPPORTED),
              HasSubstr(names));
  EXPECT_THAT(message(run("aten::softmax", "Dimname", {of(square)}), TDM_ERROR_UNSUPPORTED), HasSubstr(names));
}

TEST_F(Errors, OfModulesNameWhatTheirForwardTakes) {
  const Module attention = module("MultiheadAttention", {option("embed_dim", of(4)), option("num_heads", of(2))});
  const Tensor query = call("aten::ones", "", {ints({3, 1, 4})}), keys = call("aten::ones", "", {ints({5, 2, 4})});
  const auto forward = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    const tdm_value arguments[] = {of(q), of(k), of(v)};
    tdm_value results[2];
    std::size_t count = 2;
    return tdm_module_forward(attention.get(), arguments, 3, results, &count);
  };
  EXPECT_EQ(message(forward(square, query, query), TDM_ERROR_INVALID_ARGUMENT),
            "MultiheadAttention: the query must be [length, batch, 4], [batch, length, 4] with batch_first, or "
            "[length, 4], not [2, 2]");
  EXPECT_EQ(message(forward(query, keys, keys), TDM_ERROR_INVALID_ARGUMENT),
            "MultiheadAttention: the key must have the query's batch of 1 and 4 features, not [5, 2, 4]");
  EXPECT_EQ(message(forward(query, query, keys), TDM_ERROR_INVALID_ARGUMENT),
            "MultiheadAttention: the value must be as long as the key [3, 1, 4] and have 4 features, not [5, 2, 4]");
  tdm_module* made = nullptr;
  const tdm_option kernel = option("kernel_size", of(std::int64_t{1} << 40));
  EXPECT_REFUSED(tdm_module_create("MaxPool1d", &kernel, 1, &made), TDM_ERROR_INVALID_ARGUMENT,
                 "MaxPool1d: option 'kernel_size' is 1099511627776; a pool's is less than 2^31");
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
}  // namespace errors_test
