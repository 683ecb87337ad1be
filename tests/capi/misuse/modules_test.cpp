// Every module and optimizer with options that it does not take, and with arguments that its forward does not.
//
// Each type is tried in a process of its own: some of LibTorch's modules end theirs on such options.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <sstream>

#include "capi/calls.h"
#include "capi/misuse/apart.h"
#include "capi/misuse/folder.h"

namespace {

using namespace calls;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr unsigned kSeconds = 30;  // for all that is tried with one type

struct Report {
  char last[160];
  int tried, made, refused, complaints;
};

Report* report() {
  static Report* const all = misuse::shared<Report>();
  return all;
}

// Makes one, or says why not.
using Make = std::function<tdm_error*(const std::vector<tdm_option>& options)>;

// The text after `before` up to `after`; "" when it is not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find(after, begin + before.size());
  return text.substr(begin + before.size(), end - begin - before.size());
}

// What a type's own messages tell of its options.
class Options {
 public:
  Options(const Make& make, const tdm_value& list) {
    for (int attempt = 0; attempt < 40; ++attempt) {
      std::vector<tdm_option> options = needed();
      options.push_back(option("no_such_option", of(1)));
      const Error error(make(options));
      if (!error) return;
      const std::string message = tdm_error_message(error.get());
      const std::string missing = between(message, "option '", "' is missing");
      if (!missing.empty() && missing.size() < 40) {
        needed_.emplace(missing, of(2));
      } else if (message.find("must be a list") != std::string::npos ||
                 message.find("list of them") != std::string::npos) {
        needed_[between(message, "option '", "'")] = list;
      } else {
        std::istringstream names(between(message, "; it has ", "\n"));
        for (std::string name; std::getline(names >> std::ws, name, ',');) all_.push_back(name);
        return;
      }
    }
  }

  std::vector<tdm_option> needed() const {
    std::vector<tdm_option> options;
    for (const auto& [name, value] : needed_) options.push_back(option(name.c_str(), value));
    return options;
  }
  const std::vector<std::string>& all() const { return all_; }
  // The needed ones, and this one.
  std::vector<tdm_option> with(const std::string& name, const tdm_value& value) const {
    std::vector<tdm_option> options;
    for (const auto& [other, its] : needed_) {
      if (other != name) options.push_back(option(other.c_str(), its));
    }
    options.push_back(option(name.c_str(), value));
    return options;
  }

 private:
  std::map<std::string, tdm_value> needed_;
  std::vector<std::string> all_;
};

class Tried {
 public:
  Tried(std::string type, Make make) : type_(std::move(type)), make_(std::move(make)) {}

  void run() {
    const std::vector<std::int64_t> two = {2}, negative = {-1, -1}, vast = {kMost, kMost, kMost};
    const std::vector<double> reals = {std::nan(""), -1};
    const Tensor tensor = calls::tensor({1, 2}, {2});
    const Options options(make_, ints(two));
    const tdm_value odd[] = {of(0),
                             of(-1),
                             of(kMost),
                             of(kLeast),
                             of(std::int64_t{1} << 40),
                             of(std::nan("")),
                             of(-1e308),
                             of(HUGE_VAL),
                             of(true),
                             of("no such thing"),
                             of(tensor),
                             tagged(TDM_VALUE_NONE),
                             tagged(TDM_VALUE_DTYPE, TDM_DTYPE_INT8),
                             ints({}),
                             ints(negative),
                             ints(vast),
                             list(TDM_VALUE_DOUBLE_LIST, reals)};
    for (const std::string& name : options.all()) {
      for (std::size_t i = 0; i < std::size(odd); ++i) {
        std::snprintf(report()->last, sizeof report()->last, "%s, %s, value %zu", type_.c_str(), name.c_str(), i);
        ++report()->tried;
        check(make_(options.with(name, odd[i])));
      }
      check(make_({option(name.c_str(), of("x")), option(name.c_str(), of("x"))}), true);
    }
    std::snprintf(report()->last, sizeof report()->last, "%s, no options", type_.c_str());
    check(make_({}));
    check(make_({option("no_such_option", of(1))}), true);
    check(make_({option("", of(1))}), true);
    check(make_({option("\xff", of(1))}), true);
  }

 private:
  void check(tdm_error* owned, bool must_fail = false) {
    const Error error(owned);
    if (!error) {
      ++report()->made;
      if (must_fail) complain("it was taken");
      return;
    }
    ++report()->refused;
    const std::string message = tdm_error_message(owned);
    if (tdm_error_get_code(owned) == TDM_ERROR_INTERNAL) complain("internal: " + message);
    if (message.rfind(type_, 0) != 0) complain("it does not begin with the type: " + message);
    if (message.find("INTERNAL ASSERT") != std::string::npos) complain(message);
  }

  void complain(const std::string& about) {
    ++report()->complaints;
    std::fprintf(stderr, "%s: %s\n", report()->last, about.substr(0, 300).c_str());
  }

  std::string type_;
  Make make_;
};

void try_apart(const std::string& type, const Make& make) {
  const int complaints = report()->complaints;
  const misuse::End end = misuse::run_apart([&] { Tried(type, make).run(); }, kSeconds);
  if (!end.how.empty()) ADD_FAILURE() << report()->last << ": " << end.how << "\n" << end.output.substr(0, 3000);
  if (report()->complaints != complaints) ADD_FAILURE() << end.output.substr(0, 3000);
}

// Forward with what a module cannot mean.
void forward_odd(tdm_module* module) {
  std::vector<Tensor> tensors;
  tensors.push_back(tensor({1}, {}));
  tensors.push_back(tensor({}, {0}));
  tensors.push_back(tensor({1, 2}, {1, 2}));
  tensors.push_back(tensor(std::vector<float>(16, 1), {1, 2, 2, 2, 2}));
  const std::vector<std::int64_t> square = {2, 2};
  tensors.push_back(call("aten::ones", "", {ints(square), tagged(TDM_VALUE_DTYPE, TDM_DTYPE_INT64)}));
  for (const Tensor& one : tensors) {
    for (std::size_t count = 0; count <= 3; ++count) {
      const std::vector<tdm_value> arguments(count, of(one));
      std::vector<tdm_value> results(8);
      std::size_t results_count = results.size();
      const Error error(tdm_module_forward(module, arguments.data(), count, results.data(), &results_count));
      if (error && tdm_error_get_code(error.get()) == TDM_ERROR_INTERNAL) {
        ++report()->complaints;
        std::fprintf(stderr, "%s: %s\n", report()->last, tdm_error_message(error.get()));
      }
      for (tdm_value& result : results) tdm_value_clear(&result);
    }
  }
}

// Of a network, that it be small: what is not given.
std::vector<tdm_option> small(const std::string& type) {
  if (type.rfind("resnet", 0) == 0 || type.rfind("convnext", 0) == 0) return {option("width", of(2))};
  if (type.rfind("vgg", 0) == 0) return {option("width", of(1)), option("hidden", of(2))};
  if (type.rfind("mobilenet", 0) == 0) return {option("width_mult", of(0.1))};
  if (type.rfind("vit", 0) == 0) {
    return {option("image_size", of(16)), option("num_layers", of(1)), option("num_heads", of(1)),
            option("hidden_dim", of(2)), option("mlp_dim", of(2))};
  }
  if (type == "gpt2") {
    return {option("n_embd", of(2)), option("n_layer", of(1)), option("n_head", of(1)), option("vocab_size", of(3)),
            option("n_positions", of(3))};
  }
  if (type == "llama") return {option("head_dim", of(2))};
  return {};
}

std::vector<tdm_option> with_small(const std::string& type, std::vector<tdm_option> options) {
  for (const tdm_option& one : small(type)) {
    const bool given = std::any_of(options.begin(), options.end(),
                                   [&](const tdm_option& other) { return std::string(other.name) == one.name; });
    if (!given) options.push_back(one);
  }
  return options;
}

TEST(Modules, BearAnyOptions) {
  ASSERT_OK(tdm_set_num_threads(1));  // a child of fork() has no threads to compute with
  tdm_strings* types = nullptr;
  ASSERT_OK(tdm_module_types(&types));
  const auto all = take_strings(types);
  EXPECT_GT(all.size(), 50u);
  for (const std::string& type : all) {
    try_apart(type, [&](const std::vector<tdm_option>& given) {
      const std::vector<tdm_option> options = with_small(type, given);
      tdm_module* made = nullptr;
      tdm_error* error = tdm_module_create(type.c_str(), options.data(), options.size(), &made);
      if (made) forward_odd(made);
      tdm_module_free(made);
      return error;
    });
  }
  std::printf("%zu modules, %d options tried, %d made, %d refused\n", all.size(), report()->tried, report()->made,
              report()->refused);
}

TEST(Optimizers, BearAnyOptions) {
  *report() = {};
  for (const char* type : {"SGD", "Adam", "AdamW", "Adagrad", "RMSprop"}) {
    const Tensor parameter = tensor({1, 2}, {2});
    ASSERT_OK(tdm_tensor_set_requires_grad(parameter.get(), 1));
    const Tensor gradient = tensor({1, 1}, {2});
    ASSERT_OK(tdm_tensor_set_grad(parameter.get(), gradient.get()));
    tdm_tensor* const parameters[] = {parameter.get()};
    try_apart(type, [&](const std::vector<tdm_option>& options) {
      tdm_optimizer* made = nullptr;
      tdm_error* error = tdm_optimizer_create(type, parameters, 1, options.data(), options.size(), &made);
      if (made) error = tdm_optimizer_step(made);
      tdm_optimizer_free(made);
      return error;
    });
  }
  std::printf("%d options tried, %d made, %d refused\n", report()->tried, report()->made, report()->refused);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const misuse::Folder folder;
  return RUN_ALL_TESTS();
}
