// Every function of tandem.h with every argument wrong in turn: it must refuse what it can tell, name function and
// argument, leave its outputs alone, leak nothing, and never crash.
#include <cmath>
#include <cstdio>
#include <limits>

#include "capi/calls.h"
#include "capi/misuse/arguments.h"
#include "capi/misuse/folder.h"
#include "capi/misuse/refusal.h"

namespace {

using namespace misuse;

int cases = 0;

// tdm_shutdown() ends the process's use of Tandem: see shutdown_program.c. After tdm_rpc_shutdown() there are no calls any
// more: see tests/capi/rpc_test.cpp.
bool is_left_out(const Function& function) {
  return function.name == "tdm_shutdown" || function.name == "tdm_rpc_shutdown";
}

// Calls `body(parameter, i)` for each parameter of each function.
template <typename Body>
void for_each_parameter(Body&& body) {
  for (const Function& function : functions()) {
    if (is_left_out(function)) continue;
    const calls::LeakCheck leaks;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      SCOPED_TRACE(function.name + ", " + function.parameters[i].name);
      body(function, function.parameters[i], i);
    }
  }
}

// Whether this machine has no handle for an argument before `i`, which is then what the function sees first.
bool lacks_before(const Function& function, Arguments& arguments, std::size_t i) {
  for (std::size_t j = 0; j < i; ++j) {
    if (function.parameters[j].shape == Shape::kHandle && !arguments[j].pointer) return true;
  }
  return false;
}

// For a mistake that the function must see.
void must_refuse(const Function& function, const Parameter& parameter, Arguments& arguments) {
  ++cases;
  tdm_error* error = function.call(arguments.data());
  if (!function.fallible) return;
  EXPECT_TRUE(is_refusal(error, function.name, parameter.name));
  EXPECT_FALSE(error && arguments.outputs_touched()) << "an output was changed";
  tdm_error_free(error);
}

// For what may be right; `argument`, where one is given, is.
void may_refuse(const Function& function, Arguments& arguments, const std::string& argument = "") {
  ++cases;
  tdm_error* error = function.call(arguments.data());
  EXPECT_TRUE(is_clean(error, function.name));
  if (error && !argument.empty()) {
    EXPECT_THAT(tdm_error_message(error), testing::Not(testing::HasSubstr("'" + argument + "'")));
  }
  EXPECT_FALSE(error && arguments.outputs_touched()) << "an output was changed";
  tdm_error_free(error);
}

// False where this machine cannot make right arguments.
bool is_complete(const Function& function, Arguments& arguments) {
  return !lacks_before(function, arguments, function.parameters.size());
}

TEST(EveryFunction, HasACaseHere) {
  EXPECT_GT(functions().size(), 180u);
}

TEST(EveryFunction, TakesRightArgumentsOrSaysWhyNot) {
  for (const Function& function : functions()) {
    if (is_left_out(function)) continue;
    SCOPED_TRACE(function.name);
    const calls::LeakCheck leaks;
    Arguments arguments(function);
    if (is_complete(function, arguments)) may_refuse(function, arguments);
    // What a second free does to other handles is nothing.
    if (function.name == "tdm_error_free") arguments.handles().forget("error");
  }
}

TEST(EveryFunction, RefusesNull) {
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    if (!parameter.is_pointer()) return;
    Arguments arguments(function);
    arguments[i].pointer = nullptr;
    if (lacks_before(function, arguments, i)) return;
    if (parameter.nullable) {
      may_refuse(function, arguments, parameter.name);
    } else {
      must_refuse(function, parameter, arguments);
    }
  });
}

TEST(EveryFunction, RefusesFreedHandles) {
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    const bool list = parameter.shape == Shape::kHandleList;
    if (parameter.shape != Shape::kHandle && !list) return;
    if (!Handles::is_checked(parameter.about) || parameter.about == "op") return;
    Arguments arguments(function);
    if (lacks_before(function, arguments, i)) return;
    void* handle = arguments.handles().make(parameter.about);
    if (!handle) return;
    Handles::free(parameter.about, handle);
    arguments[i].pointer = list ? arguments.list_of(handle) : handle;
    must_refuse(function, parameter, arguments);
  });
}

TEST(EveryFunction, RefusesHandlesOfAnotherType) {
  for (const char* type : {"tensor", "module", "store", "op", "scope", "string"}) {
    for_each_parameter([&](const Function& function, const Parameter& parameter, std::size_t i) {
      const bool list = parameter.shape == Shape::kHandleList;
      if ((parameter.shape != Shape::kHandle && !list) || parameter.about == type) return;
      if (!Handles::is_checked(parameter.about)) return;
      Arguments arguments(function);
      void* handle = arguments.handles().get(type);
      arguments[i].pointer = list ? arguments.list_of(handle) : handle;
      if (!lacks_before(function, arguments, i)) must_refuse(function, parameter, arguments);
    });
  }
}

TEST(EveryFunction, RefusesListsWithNull) {
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    if (parameter.shape != Shape::kHandleList && parameter.shape != Shape::kStringList) return;
    Arguments arguments(function);
    arguments[i].pointer = arguments.list_of(nullptr);
    if (parameter.nullable_elements) {
      may_refuse(function, arguments, parameter.name);
    } else {
      must_refuse(function, parameter, arguments);
    }
  });
}

TEST(EveryFunction, RefusesStructsThatWereNotInitialised) {
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    if (!parameter.sized || !function.fallible) return;  // what initialises them
    Arguments arguments(function);
    void* blank = arguments.keep(parameter.size);
    arguments[i].pointer = blank;
    ++cases;
    tdm_error* error = function.call(arguments.data());
    // What this machine has not is said first.
    if (!error || tdm_error_get_code(error) != TDM_ERROR_UNSUPPORTED) {
      EXPECT_TRUE(is_refusal(error, function.name, parameter.about + ".struct_size"));
    }
    tdm_error_free(error);
  });
}

TEST(EveryFunction, BearsAnyNumber) {
  constexpr std::int64_t kNumbers[] = {std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int32_t>::min(),
                                       -1,
                                       0,
                                       99,
                                       std::numeric_limits<std::int32_t>::max(),
                                       std::int64_t{1} << 40,
                                       std::numeric_limits<std::int64_t>::max()};
  for_each_parameter([&](const Function& function, const Parameter& parameter, std::size_t i) {
    if (parameter.shape != Shape::kInteger) return;
    // What it counts is not there: nothing could tell.
    const bool counts = parameter.name == "ndim";
    for (const std::int64_t number : kNumbers) {
      if (counts && number > 1 && number <= 64) continue;
      if (function.name == "tdm_parameter_server_wait" && number > 99) continue;  // no trainer comes: it waits as it is told
      SCOPED_TRACE(number);
      Arguments arguments(function);
      if (!is_complete(function, arguments)) return;
      arguments[i].integer = static_cast<std::uint64_t>(number);
      may_refuse(function, arguments);
    }
  });
}

TEST(EveryFunction, RefusesCountsThatCannotBe) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for_each_parameter([&](const Function& function, const Parameter& parameter, std::size_t i) {
    if (parameter.shape != Shape::kCount) return;
    for (const std::size_t count : {kMost, kMost / 2, kMost / 8 + 1, std::size_t{1} << 40}) {
      SCOPED_TRACE(count);
      Arguments arguments(function);
      if (!is_complete(function, arguments)) return;
      arguments[i].integer = count;
      ++cases;
      tdm_error* error = function.call(arguments.data());
      EXPECT_TRUE(is_clean(error, function.name));
      EXPECT_TRUE(error || !function.fallible) << "it was taken";
      EXPECT_FALSE(error && arguments.outputs_touched()) << "an output was changed";
      tdm_error_free(error);
    }
  });
}

TEST(EveryFunction, BearsAnyReal) {
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    if (parameter.shape != Shape::kReal) return;
    for (const double real : {std::nan(""), HUGE_VAL, -HUGE_VAL, -1.0, 0.0, 1e308}) {
      Arguments arguments(function);
      arguments[i].real = real;
      may_refuse(function, arguments);
    }
  });
}

TEST(EveryFunction, RefusesDevicesThatAreNot) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  for_each_parameter([](const Function& function, const Parameter& parameter, std::size_t i) {
    if (parameter.shape != Shape::kDevice) return;
    for (const tdm_device device :
         {tdm_device{99, 0}, tdm_device{-1, 0}, tdm_device{kMost, 0}, tdm_device{0, -2}, tdm_device{0, kMost},
          tdm_device{TDM_DEVICE_CUDA, 127}, tdm_device{TDM_DEVICE_CUDA, kMost}, tdm_device{TDM_DEVICE_META, -1}}) {
      SCOPED_TRACE(testing::Message() << device.type << ":" << device.index);
      Arguments arguments(function);
      arguments[i].device = device;
      may_refuse(function, arguments);
    }
  });
}

TEST(EveryFunction, BearsAnyText) {
  const std::string texts[] = {"", "\xff\xfe\x80", "\xc3", "a\nb %s%n", std::string(1 << 20, 'x')};
  for_each_parameter([&](const Function& function, const Parameter& parameter, std::size_t i) {
    const bool list = parameter.shape == Shape::kStringList;
    if (parameter.shape != Shape::kString && !list) return;
    for (std::string text : texts) {
      SCOPED_TRACE(text.substr(0, 8));
      Arguments arguments(function);
      arguments[i].pointer = list ? arguments.list_of(text.data()) : text.data();
      may_refuse(function, arguments);
    }
  });
}

TEST(EveryFunction, Counted) {
  std::printf("%zu functions, %d cases\n", functions().size(), cases);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const Folder folder;
  return RUN_ALL_TESTS();
}
