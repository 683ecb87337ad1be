// Every operator that this LibTorch has, called with what no program should give it: it must fail by name, or work, and
// never crash or speak of an internal assert.
//
// Each operator is called in a process of its own, for some of LibTorch's crash on such input: those are listed, with
// what they were given, in libtorch_crashes.txt. A crash that is not listed is a failure.
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "capi/calls.h"
#include "capi/misuse/apart.h"
#include "capi/misuse/folder.h"
#include "capi/misuse/refusal.h"
#include "capi/misuse/schema.h"

namespace {

using namespace calls;
using misuse::parse_schema;
using misuse::SchemaArgument;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr unsigned kSeconds = 60;  // for all calls of one operator

// A way of choosing the arguments: the same tensor, number and so on for all that take one.
struct Way {
  const char* name;
  std::function<Tensor()> tensor;
  std::int64_t integer;
  double real;
  bool flag;
  std::vector<std::int64_t> integers;
  std::size_t list_length;  // of lists of tensors and numbers
  const char* text;
  std::int32_t dtype;
};

Tensor make(tdm_dtype dtype, const std::vector<std::int64_t>& sizes, tdm_device_type device = TDM_DEVICE_CPU) {
  std::vector<tdm_value> arguments = {ints(sizes), tagged(TDM_VALUE_DTYPE, dtype), tagged(TDM_VALUE_NONE),
                                      tagged(TDM_VALUE_DEVICE)};
  arguments[3].as.device = {device, -1};
  return call("aten::ones", "", arguments);
}

Tensor sparse() {
  return call("aten::to_sparse", "", {of(make(TDM_DTYPE_FLOAT32, {2, 3}))});
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"plain",
       [] {
         return make(TDM_DTYPE_FLOAT32, {2, 3});
       },
       1,
       0.5,
       false,
       {1},
       1,
       "mean",
       TDM_DTYPE_FLOAT32},
      {"nothing", [] { return make(TDM_DTYPE_FLOAT32, {0}); }, 0, 0, false, {}, 0, "", TDM_DTYPE_FLOAT64},
      {"scalars", [] { return make(TDM_DTYPE_FLOAT32, {}); }, -1, -1, true, {-1}, 2, "none", TDM_DTYPE_BOOL},
      {"huge",
       [] {
         return make(TDM_DTYPE_FLOAT32, {2, 2});
       },
       kMost,
       1e308,
       true,
       {kMost, kMost},
       3,
       "sum",
       TDM_DTYPE_INT64},
      {"least",
       [] {
         return make(TDM_DTYPE_FLOAT64, {1, 2, 3});
       },
       kLeast,
       -1e308,
       true,
       {kLeast / 2},
       1,
       "\xff",
       TDM_DTYPE_COMPLEX64},
      {"most",
       [] {
         return make(TDM_DTYPE_FLOAT32, {1, 2, 3});
       },
       1,
       1,
       false,
       {kMost},
       2,
       "mean",
       TDM_DTYPE_FLOAT32},
      {"large",
       [] {
         return make(TDM_DTYPE_FLOAT32, {3, 3});
       },
       std::int64_t{1} << 40,
       1e20,
       false,
       {std::int64_t{1} << 40, 3},
       2,
       "reflect",
       TDM_DTYPE_UINT8},
      {"integers",
       [] {
         return make(TDM_DTYPE_INT64, {2, 2});
       },
       2,
       2,
       true,
       {0, 1},
       2,
       "trunc",
       TDM_DTYPE_INT8},
      {"bools",
       [] { return make(TDM_DTYPE_BOOL, {4}); },
       3,
       std::numeric_limits<double>::quiet_NaN(),
       true,
       {2, 2, 2},
       4,
       "ij",
       TDM_DTYPE_FLOAT16},
      {"complex",
       [] {
         return make(TDM_DTYPE_COMPLEX64, {2, 2, 2});
       },
       -2,
       std::numeric_limits<double>::infinity(),
       false,
       {-1, -1},
       2,
       "linear",
       TDM_DTYPE_COMPLEX128},
      {"half",
       [] {
         return make(TDM_DTYPE_FLOAT16, {1, 2, 4, 4});
       },
       2,
       1,
       true,
       {2, 2},
       2,
       "relu",
       TDM_DTYPE_BFLOAT16},
      {"volume",
       [] {
         return make(TDM_DTYPE_FLOAT32, {1, 2, 3, 4, 4});
       },
       1,
       1,
       true,
       {1, 1, 1},
       3,
       "constant",
       TDM_DTYPE_INT32},
      {"sparse", sparse, 1, 1, false, {1, 1}, 2, "mean", TDM_DTYPE_FLOAT32},
      {"meta",
       [] {
         return make(TDM_DTYPE_FLOAT32, {2, 3}, TDM_DEVICE_META);
       },
       1,
       1,
       false,
       {1},
       2,
       "mean",
       TDM_DTYPE_FLOAT32},
  };
  return all;
}

// What a way gives to the arguments of an operator. Some it leaves out: what is optional or has a default, where
// `spare`.
class Values {
 public:
  Values(const std::vector<SchemaArgument>& arguments, const Way& way, bool spare) : way_(way) {
    tensor_ = way.tensor();
    tdm_generator* generator = nullptr;
    EXPECT_OK(tdm_generator_create({TDM_DEVICE_CPU, -1}, &generator));
    generator_.reset(generator);
    tensors_.assign(way.list_length, tensor_.get());
    reals_.assign(way.list_length, way.real);
    flags_.assign(way.list_length, way.flag);
    texts_.assign(way.list_length, way.text);
    scalars_.assign(way.list_length, of(way.real));
    for (const SchemaArgument& argument : arguments) values_.push_back(value(argument, spare));
  }

  std::vector<tdm_value>& values() { return values_; }

 private:
  tdm_value value(const SchemaArgument& argument, bool spare) {
    if (spare && argument.has_default) return tagged(TDM_VALUE_DEFAULT);
    if (spare && argument.optional) return tagged(TDM_VALUE_NONE);
    const std::string& type = argument.type;
    if (type == "Tensor") return of(tensor_);
    if (type == "Tensor[]" || type == "Tensor?[]") return list(TDM_VALUE_TENSOR_LIST, tensors_);
    if (type == "int" || type == "SymInt") return of(way_.integer);
    if (type == "int[]" || type == "SymInt[]") return ints(way_.integers);
    if (type == "float") return of(way_.real);
    if (type == "float[]") return list(TDM_VALUE_DOUBLE_LIST, reals_);
    if (type == "Scalar") return of(way_.real);
    if (type == "Scalar[]") return list(TDM_VALUE_SCALAR_LIST, scalars_);
    if (type == "bool") return of(way_.flag);
    if (type == "bool[]") return list(TDM_VALUE_BOOL_LIST, flags_);
    if (type == "str") return of(way_.text);
    if (type == "str[]") return list(TDM_VALUE_STRING_LIST, texts_);
    if (type == "ScalarType") return tagged(TDM_VALUE_DTYPE, way_.dtype);
    if (type == "Layout") return tagged(TDM_VALUE_LAYOUT, TDM_LAYOUT_SPARSE);
    if (type == "MemoryFormat") return tagged(TDM_VALUE_MEMORY_FORMAT, TDM_MEMORY_FORMAT_CHANNELS_LAST);
    if (type == "Device") return tagged(TDM_VALUE_DEVICE);
    if (type == "Generator") return of(generator_);
    return tagged(argument.optional ? TDM_VALUE_NONE : TDM_VALUE_DEFAULT);
  }

  const Way& way_;
  Tensor tensor_;
  Generator generator_;
  std::vector<tdm_tensor*> tensors_;
  std::vector<double> reals_;
  std::vector<std::uint8_t> flags_;
  std::vector<const char*> texts_;
  std::vector<tdm_value> scalars_, values_;
};

// What the process of an operator tells its parent.
struct Report {
  int step;  // of its calls, counted from 0, the one that runs
  char way[64];
  int calls, errors, internal, complaints;
};

class Operator {
 public:
  Operator(const tdm_op* op, std::string name, Report* report)
      : op_(op), name_(std::move(name)), report_(report), arguments_(parse_schema(tdm_op_schema(op))) {}

  // Makes the calls from `first` on, but those whose way is among `left_out`.
  void run(int first, const std::set<std::string>& left_out) {
    EXPECT_EQ(arguments_.size(), tdm_op_argument_count(op_)) << tdm_op_schema(op_);
    step_ = 0;
    const auto attempt = [&](const std::string& way, const std::function<void()>& body) {
      if (step_++ < first || left_out.contains(way)) return;
      report_->step = step_ - 1;
      std::snprintf(report_->way, sizeof report_->way, "%s", way.c_str());
      body();
    };
    attempt("counts", [&] { wrong_counts(); });
    attempt("types", [&] { wrong_types(); });
    for (const Way& way : ways()) {
      for (const bool spare : {true, false}) {
        attempt(std::string(way.name) + (spare ? "-spare" : ""), [&] {
          Values values(arguments_, way, spare);
          check(invoke(values.values().data(), values.values().size(), tdm_op_result_count(op_)), "");
        });
      }
    }
  }

 private:
  tdm_error* invoke(const tdm_value* arguments, std::size_t count, std::size_t result_count) {
    std::vector<tdm_value> results(std::min<std::size_t>(result_count, 64) + 1);
    tdm_error* error = tdm_op_call(op_, arguments, count, results.data(), result_count);
    ++report_->calls;
    for (tdm_value& result : results) tdm_value_clear(&result);
    return error;
  }

  void complain(const std::string& about) {
    ++report_->complaints;
    std::fprintf(stderr, "%s, %s: %s\n", name_.c_str(), report_->way, about.substr(0, 500).c_str());
  }

  // Takes the error. `part`, unless empty, must be in its message.
  void check(tdm_error* owned, const std::string& part, bool must_fail = false) {
    const Error error(owned);
    if (!error) {
      if (must_fail) complain("it was taken, where '" + part + "' should be refused");
      return;
    }
    ++report_->errors;
    const std::string message = tdm_error_message(owned);
    if (tdm_error_get_code(owned) == TDM_ERROR_INTERNAL) ++report_->internal;
    if (!message.starts_with(name_ + ": ")) complain("it does not begin with the operator: " + message);
    if (const auto well = misuse::is_well_worded(owned); !well) complain(well.message());
    if (message.find(part) == std::string::npos) complain("it does not say " + part + ": " + message);
    if (must_fail && tdm_error_get_code(owned) == TDM_ERROR_INTERNAL) complain("internal: " + message);
  }

  void wrong_counts() {
    Values plain(arguments_, ways()[0], false);
    std::vector<tdm_value>& values = plain.values();
    const std::size_t results = tdm_op_result_count(op_);
    values.push_back(tagged(TDM_VALUE_NONE));
    check(invoke(values.data(), values.size(), results), "argument", true);
    check(invoke(values.data(), std::numeric_limits<std::size_t>::max(), results), "argument", true);
    check(invoke(values.data(), values.size() - 1, results + 1), "results", true);
    if (results > 0) check(invoke(values.data(), values.size() - 1, 0), "results", true);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].has_default || arguments_[i].type == "Storage") continue;
      check(invoke(values.data(), i, results), "", true);
    }
    if (!arguments_.empty()) check(invoke(nullptr, arguments_.size(), results), "argument", true);
  }

  // Each argument in turn of a type that it does not take, and of one that it does but broken.
  void wrong_types() {
    Values plain(arguments_, ways()[0], false);
    const std::size_t unsayable = first_unsayable(plain.values());
    Tensor gone = make(TDM_DTYPE_FLOAT32, {1});
    tdm_tensor* freed = gone.get();
    tdm_value broken_list = tagged(TDM_VALUE_INT_LIST);
    broken_list.as.list = {nullptr, 3};
    const std::vector<std::int64_t> least = {kLeast};  // of which LibTorch makes no size
    tdm_value endless = ints({});
    endless.as.list = {&endless, std::numeric_limits<std::size_t>::max()};
    tdm_tensor* const nulls[] = {nullptr, reinterpret_cast<tdm_tensor*>(const_cast<tdm_op*>(op_))};
    tdm_value null_tensors = tagged(TDM_VALUE_TENSOR_LIST), operators = null_tensors;
    null_tensors.as.list = {nulls, 1};
    operators.as.list = {nulls + 1, 1};
    tdm_value null_text = tagged(TDM_VALUE_STRING);
    null_text.as.string = {nullptr, 4};
    const tdm_value bad[] = {tagged(77),
                             tagged(-1),
                             of(static_cast<tdm_tensor*>(nullptr)),
                             of(nulls[1]),
                             of(freed),
                             null_tensors,
                             operators,
                             broken_list,
                             ints(least),
                             endless,
                             null_text,
                             tagged(TDM_VALUE_DTYPE, 99),
                             tagged(TDM_VALUE_LAYOUT, 99),
                             tagged(TDM_VALUE_MEMORY_FORMAT, -1),
                             tagged(TDM_VALUE_DEVICE, 99),
                             tagged(TDM_VALUE_GENERATOR)};
    gone.reset();
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      std::vector<tdm_value> values = plain.values();
      for (const tdm_value& one : bad) {
        if (takes(arguments_[i], one, nulls)) continue;
        values[i] = one;
        check(invoke(values.data(), values.size(), tdm_op_result_count(op_)),
              "argument '" + arguments_[std::min(i, unsayable)].name + "'", true);
      }
    }
  }

  // Integers are floats too, and a list of optional tensors may have NULL.
  static bool takes(const SchemaArgument& argument, const tdm_value& value, const void* nulls) {
    if (argument.type == "float[]") return value.tag == TDM_VALUE_INT_LIST && value.as.list.size == 1;
    return argument.type == "Tensor?[]" && value.tag == TDM_VALUE_TENSOR_LIST && value.as.list.data == nulls;
  }

  // The first argument that nothing of this ABI can say, such as names of dimensions; else the last one. Arguments are
  // looked at in order, so that the message about the last one is it where there is none.
  std::size_t first_unsayable(std::vector<tdm_value> values) {
    if (values.empty()) return 0;
    values.back() = tagged(77);
    const Error error(invoke(values.data(), values.size(), tdm_op_result_count(op_)));
    const std::string message = error ? tdm_error_message(error.get()) : "";
    std::size_t i = 0;
    while (i + 1 < values.size() && message.find("argument '" + arguments_[i].name + "'") == std::string::npos) ++i;
    return i;
  }

  const tdm_op* op_;
  std::string name_;
  Report* report_;
  std::vector<SchemaArgument> arguments_;
  int step_ = 0;
};

// "aten::x.y": {"huge", "sparse-spare"}
std::map<std::string, std::set<std::string>> known_crashes() {
  std::map<std::string, std::set<std::string>> known;
  std::ifstream file(KNOWN_CRASHES);
  EXPECT_TRUE(file) << "cannot read " << KNOWN_CRASHES;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, way;
    words >> name;
    while (words >> way) known[name].insert(way);
  }
  return known;
}

// Each of-th operator, from the first on.
struct Share {
  std::size_t first, of;
};

// TANDEM_MISUSE_SHARE=0/1 is all operators, 5/40 the sixth of each forty. Unless told, all; under a sanitizer, which
// makes processes slow to start, a part.
Share share_of_run() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  Share share{3, 16};
#else
  Share share{0, 1};
#endif
  const char* text = std::getenv("TANDEM_MISUSE_SHARE");
  if (text && (std::sscanf(text, "%zu/%zu", &share.first, &share.of) != 2 || share.first >= share.of)) {
    throw std::runtime_error(std::string("TANDEM_MISUSE_SHARE is ") + text + ", which is no share such as 5/40");
  }
  return share;
}

TEST(Operators, BearAnything) {
  auto* const report = misuse::shared<Report>();
  // A child of fork() has no threads to compute with.
  ASSERT_OK(tdm_set_num_threads(1));
  const auto known = known_crashes();
  const char* only = std::getenv("TANDEM_MISUSE_OPERATOR");
  const Share share = only ? Share{0, 1} : share_of_run();
  std::ifstream schemas(SCHEMAS);
  ASSERT_TRUE(schemas) << "cannot read " << SCHEMAS;
  std::size_t operators = 0;
  int left_out = 0;
  std::size_t position = 0;
  for (std::string line; std::getline(schemas, line);) {
    if (position++ % share.of != share.first) continue;
    const std::string full = line.substr(line.find("aten::"), line.find('(') - line.find("aten::"));
    if (only && full != only) continue;
    const std::size_t dot = full.find('.');
    const tdm_op* op = nullptr;
    const Error missing(
        tdm_op_find(full.substr(0, dot).c_str(), dot == std::string::npos ? "" : full.c_str() + dot + 1, &op));
    if (missing) {
      // Another LibTorch may lack it; this one may have what cannot be called.
      EXPECT_NE(tdm_error_get_code(missing.get()), TDM_ERROR_INTERNAL) << tdm_error_message(missing.get());
      continue;
    }
    ++operators;
    const auto listed = known.find(full);
    const std::set<std::string> none;
    const std::set<std::string>& skipped = listed == known.end() ? none : listed->second;
    left_out += static_cast<int>(skipped.size());
    for (int first = 0;;) {
      const int complaints = report->complaints;
      const misuse::End end = misuse::run_apart([&] { Operator(op, full, report).run(first, skipped); }, kSeconds);
      if (report->complaints != complaints) ADD_FAILURE() << end.output.substr(0, 3000);
      if (end.how.empty()) break;
      ADD_FAILURE() << full << ", " << report->way << ": " << end.how << "\n" << end.output.substr(0, 3000);
      first = report->step + 1;
    }
  }
  std::printf("%zu operators, %d calls, %d errors, %d of them internal to LibTorch; %d known crashes left out\n",
              operators, report->calls, report->errors, report->internal, left_out);
  EXPECT_GT(operators, only ? 0 : 2500 / share.of);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const misuse::Folder folder;
  return RUN_ALL_TESTS();
}
