// Archives that are damaged or lie, and inputs that do not fit: errors that say what and where.
#include <gmock/gmock.h>

#include <random>

#include "cpp/comm/threads.h"
#include "cpp/exported/archives.h"
#include "cpp/exported/programs.h"
#include "support/temporary_folder.h"

namespace tandem::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using nlohmann::json;

constexpr const char* kModelMember = "models/model.json";

class Lies : public ::testing::Test {
 protected:
  // The error of loading `name` with another model.json.
  Error of_model(const std::string& name, const std::function<void(json&)>& change) {
    return of_member(name, kModelMember, change);
  }
  Error of_member(const std::string& name, const std::string& member, const std::function<void(json&)>& change) {
    rewrite_json(archive(name), folder_ / "lie.pt2", member, change);
    return error_of([&] { ExportedProgram::load(folder_ / "lie.pt2"); });
  }
  static json& nodes(json& model) { return model["graph_module"]["graph"]["nodes"]; }

  const TemporaryFolder folder_;
};

TEST_F(Lies, AboutNamesAreErrorsThatNameTheNode) {
  const Error cycle = of_model("mlp", [](json& model) { nodes(model)[0]["inputs"][0]["arg"]["as_tensor"]["name"] = "tanh"; });
  EXPECT_EQ(cycle.code(), ErrorCode::kDataLoss);
  EXPECT_THAT(cycle.what(), AllOf(HasSubstr("lie.pt2: models/model.json: node 'linear' (torch.ops.aten.linear.default)"),
                                  HasSubstr("takes 'tanh', which nothing before it gives")));
  const Error twice = of_model("mlp", [](json& model) { nodes(model)[1]["outputs"][0]["as_tensor"]["name"] = "linear"; });
  EXPECT_THAT(twice.what(), HasSubstr("gives the name 'linear', which is there already"));
  const Error itself = of_model("mlp", [](json& model) { nodes(model)[1]["inputs"][0]["arg"]["as_tensor"]["name"] = "relu"; });
  EXPECT_THAT(itself.what(), HasSubstr("node 'relu'"));
}

TEST_F(Lies, AboutOperatorsAreErrors) {
  const Error unknown = of_model("mlp", [](json& model) { nodes(model)[1]["target"] = "torch.ops.mine.gelu.default"; });
  EXPECT_EQ(unknown.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(unknown.what(), AllOf(HasSubstr("(torch.ops.mine.gelu.default) calls an operator that LibTorch"),
                                    HasSubstr("load the library that registers it first")));
  EXPECT_THAT(of_model("mlp", [](json& model) { nodes(model)[1]["target"] = "os.system"; }).what(),
              HasSubstr("(os.system) calls what is neither an operator nor arithmetic of sizes"));
  EXPECT_THAT(of_model("mlp", [](json& model) { nodes(model)[1]["target"] = "torch.ops.higher_order.scan"; }).what(),
              HasSubstr("is an operator on functions that is not supported"));
  EXPECT_THAT(of_model("mlp", [](json& model) { nodes(model)[0]["inputs"].erase(1); }).what(),
              HasSubstr("lacks the argument 'weight'"));
  EXPECT_THAT(of_model("mlp", [](json& model) { nodes(model)[0]["inputs"][2]["name"] = "bais"; }).what(),
              HasSubstr("has the argument 'bais', which the operator"));
  EXPECT_THAT(of_model("mlp", [](json& model) { nodes(model)[1]["outputs"].push_back({{"as_none", true}}); }).what(),
              HasSubstr("gives 2 values, and the operator gives 1"));
}

TEST_F(Lies, OperatorsThatReachForFilesAndForeignMemoryAreNotRun) {
  for (const char* target : {"torch.ops.aten.from_file.default", "torch.ops.aten._reshape_alias.default"}) {
    const Error error = of_model("mlp", [&](json& model) { nodes(model)[1]["target"] = target; });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("reads files or memory without a check"));
  }
}

TEST_F(Lies, AboutTypesAreErrorsAtTheCall) {
  rewrite_json(archive("mlp"), folder_ / "lie.pt2", kModelMember, [](json& model) {
    nodes(model)[0]["inputs"][1]["arg"] = {{"as_string", "weight"}};
  });
  const auto program = ExportedProgram::load(folder_ / "lie.pt2");
  const Error error = error_of([&] { program->forward(example("mlp")); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.what(), HasSubstr("node 'linear' (torch.ops.aten.linear.default): "));
}

TEST_F(Lies, AboutSizesOfWeightsAreErrors) {
  const std::string config = "data/weights/model_weights_config.json";
  const auto sized = [&](json size) {
    return of_member("mlp", config, [&](json& document) {
      document["config"]["layers.0.weight"]["tensor_meta"]["sizes"][0] = {{"as_int", size}};
    });
  };
  EXPECT_THAT(sized(17).what(), AllOf(HasSubstr("'layers.0.weight' does not lie in data/weights/weight_"),
                                      HasSubstr("which has 768 bytes")));
  EXPECT_EQ(sized(17).code(), ErrorCode::kDataLoss);
  EXPECT_THAT(sized(std::int64_t{1} << 62).what(), HasSubstr("larger than memory can be"));
  EXPECT_THAT(sized(-1).what(), HasSubstr("negative size"));
  const Error wraps = of_member("mlp", config, [](json& document) {
    auto& meta = document["config"]["layers.0.weight"]["tensor_meta"];
    meta["sizes"] = {{{"as_int", std::int64_t{1} << 32}}, {{"as_int", std::int64_t{1} << 32}}};
    meta["strides"] = {{{"as_int", 0}}, {{"as_int", 0}}};
  });
  EXPECT_EQ(wraps.code(), ErrorCode::kDataLoss);
  EXPECT_THAT(wraps.what(), HasSubstr("larger than memory can be"));
  const Error deep = of_member("mlp", config, [](json& document) {
    std::string name = "a";
    for (int i = 0; i < 1000; ++i) name += ".a";
    document["config"][name] = document["config"]["layers.0.weight"];
    document["config"][name]["tensor_meta"]["sizes"] = {{{"as_int", 3}}};
    document["config"][name]["tensor_meta"]["strides"] = {{{"as_int", 1}}};
  });
  EXPECT_THAT(deep.what(), HasSubstr("lies in 1000 modules"));
  EXPECT_THAT(sized("16").what(), HasSubstr("in the place of an integer"));
  EXPECT_THAT(of_member("mlp", config, [](json& document) { document["config"].erase("layers.0.weight"); }).what(),
              HasSubstr("has no tensor for 'layers.0.weight'"));
  EXPECT_THAT(of_member("mlp", config, [](json& document) {
                document["config"]["layers.0.weight"]["path_name"] = "../model.json";
              }).what(),
              HasSubstr("has no member 'data/weights/../model.json'"));
  EXPECT_THAT(of_member("mlp", config, [](json& document) { document["config"]["layers.0.weight"]["use_pickle"] = true; }).what(),
              HasSubstr("is a pickle of Python, which is not read"));
}

TEST_F(Lies, AboutTreesAndVersionsAreErrors) {
  const auto signature = [](json& model) -> json& { return model["graph_module"]["module_call_graph"][0]["signature"]; };
  const Error dataclass = of_model("mlp", [&](json& model) {
    signature(model)["out_spec"] = R"([1, {"type": "transformers.modeling_outputs.ModelOutput", "context": "[]", "children_spec": []}])";
  });
  EXPECT_EQ(dataclass.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(dataclass.what(), HasSubstr("transformers.modeling_outputs.ModelOutput"));
  EXPECT_THAT(of_model("mlp", [&](json& model) { signature(model)["in_spec"] = "[1, {"; }).what(), HasSubstr("is no JSON"));
  EXPECT_THAT(of_model("mlp", [&](json& model) {
                std::string spec = signature(model)["in_spec"];
                spec.replace(spec.rfind("builtins.dict"), 13, "builtins.list");
                signature(model)["in_spec"] = spec;
              }).what(),
              HasSubstr("is no pair of positional and keyword arguments"));
  EXPECT_THAT(of_model("mlp", [&](json& model) { signature(model)["out_spec"] = R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": []}])"; }).what(),
              HasSubstr("do not fit its signature"));
  EXPECT_THAT(of_model("mlp", [](json& model) { model["schema_version"]["major"] = 9; }).what(),
              HasSubstr("version 9 of the export schema"));
  EXPECT_THAT(of_model("mlp", [](json& model) { model["graph_module"].erase("graph"); }).what(), HasSubstr("has no 'graph'"));
}

TEST_F(Lies, EveryMemberThatIsMissingIsToldOrNotNeeded) {
  std::vector<std::string> members;
  rewrite(archive("decoder"), folder_ / "same.pt2", [&](const std::string& name, std::string content) {
    members.push_back(name);
    return std::optional(content);
  });
  int refused = 0;
  for (const std::string& gone : members) {
    rewrite(archive("decoder"), folder_ / "less.pt2", [&](const std::string& name, std::string content) {
      return name == gone ? std::nullopt : std::optional(content);
    });
    try {
      const auto program = ExportedProgram::load(folder_ / "less.pt2");
      expect_values(program->forward(example("decoder")), references()["decoder"]["outputs"], "without " + gone);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << gone << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

// Bytes of the archive's two descriptions are changed at random: that gives a program or an error, and nothing else.
TEST_F(Lies, MutantsAreProgramsOrErrors) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  const std::vector<std::string> pieces = {"null", "-1", "[]", "{}", "\"x\"", "99999999999999999999", "1e999", "true",
                                           "as_int", "as_tensor", "torch.ops.aten.linear.default", "18446744073709551615"};
  const std::vector<std::string> sources = {"regions", "decoder", "sizes", "functional"};
  int read = 0, refused = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string& name = sources[below(sources.size())];
    const bool graph = below(4) != 0;
    rewrite(archive(name), folder_ / "mutant.pt2", [&](const std::string& member, std::string content) {
      const bool is_it = graph ? member == kModelMember : member == "data/weights/model_weights_config.json";
      if (!is_it || content.empty()) return std::optional(content);
      for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
        const std::size_t at = below(content.size());
        switch (below(4)) {
          case 0:
            content[at] = static_cast<char>(below(256));
            break;
          case 1:
            content.erase(at, 1 + below(8));
            break;
          case 2:
            content.insert(at, pieces[below(pieces.size())]);
            break;
          default: {  // a value for another
            const std::size_t colon = content.find(": ", at), end = content.find_first_of(",}", colon);
            if (end != std::string::npos) content.replace(colon + 2, end - colon - 2, pieces[below(pieces.size())]);
          }
        }
        if (content.empty()) break;
      }
      return std::optional(content);
    });
    try {
      ExportedProgram::load(folder_ / "mutant.pt2");
      ++read;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kDataLoss || error.code() == ErrorCode::kUnsupported) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(read, 5);
  EXPECT_GT(refused, 50);
}

TEST_F(Lies, TruncatedArchivesAreErrors) {
  std::ifstream file(archive("mlp"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    std::ofstream(folder_ / "torn.pt2", std::ios::binary) << whole.substr(0, size);
    const Error error = error_of([&] { ExportedProgram::load(folder_ / "torn.pt2"); });
    EXPECT_EQ(error.code(), ErrorCode::kDataLoss) << size << ": " << error.what();
  }
}

TEST(Files, OfOtherKindsAreNamed) {
  EXPECT_EQ(error_of([] { ExportedProgram::load(archive("nobody")); }).code(), ErrorCode::kNotFound);
  const Error other = error_of([] { ExportedProgram::load(std::string(EXPORTED_FILES) + "/references.json"); });
  EXPECT_THAT(other.what(), HasSubstr("references.json is no archive of torch.export.save"));
}

Error refusal(const std::string& name, Values inputs) {
  const auto program = ExportedProgram::load(archive(name));
  const Error error = error_of([&] { program->forward(inputs); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
  return error;
}

TEST(Inputs, OfOtherShapesAndDtypesAreNamed) {
  EXPECT_THAT(refusal("mlp", {pattern({4, 7}, 1)}).what(),
              AllOf(HasSubstr("size 1 of x is 7, but the program was exported for 6"), HasSubstr("export it with this size dynamic")));
  EXPECT_THAT(refusal("mlp", {pattern({6}, 1)}).what(), HasSubstr("x is Double[6], but the program was exported for Double[s"));
  EXPECT_THAT(refusal("mlp", {pattern({4, 6}, 1).to(at::kFloat)}).what(), HasSubstr("x is Float[4, 6]"));
  EXPECT_THAT(refusal("mlp", {3}).what(), HasSubstr("x must be a tensor"));
  EXPECT_THAT(refusal("mlp", {at::Tensor()}).what(), HasSubstr("x must be a tensor"));
  EXPECT_THAT(refusal("mlp", {}).what(), HasSubstr("the program also takes x"));
  EXPECT_THAT(refusal("mlp", {pattern({4, 6}, 1), 2}).what(), HasSubstr("takes 1 arguments (x), not 2"));
}

TEST(Inputs, OutsideOfTheRangesOfDynamicSizesAreNamed) {
  EXPECT_THAT(refusal("mlp", {pattern({65, 6}, 1)}).what(), HasSubstr("is 65 for these inputs, but the program was exported for 1 to 64"));
  EXPECT_THAT(refusal("transformer", {classes({2, 6}, 3, 11), torch::zeros({2, 5}, at::kBool)}).what(),
              HasSubstr("size 1 of padding is 5, but must be"));
  EXPECT_THAT(refusal("sizes", {pattern({15}, 1), pattern({8}, 2), 3}).what(), HasSubstr("size 0 of x is 15"));
  EXPECT_THAT(refusal("sizes", {pattern({18}, 1), pattern({8}, 2), 3}).what(), HasSubstr("size 0 of x is 18, but must be"));
  EXPECT_THAT(refusal("sizes", {pattern({10}, 1), pattern({5}, 2), 3}).what(), HasSubstr("is 5 for these inputs"));
  // Exports take 0 and 1 for special, and say 2.
  EXPECT_EQ(ExportedProgram::load(archive("sizes"))->forward({pattern({16}, 1), pattern({8}, 2), 1}).size(), 4u);
}

TEST(Inputs, OfAnotherStructureAreNamed) {
  Values inputs = example("regions");
  inputs[3] = dict({{"weights", tuple({pattern({3, 3}, 4)})}});
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("options has no 'factor'"));
  inputs[3] = dict({{"weights", tuple({})}, {"factor", pattern({1}, 5)}});
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("options['weights'] must be a tuple of 1 element, not of 0 elements"));
  inputs[3] = dict({{"weights", tuple({pattern({3, 3}, 4)})}, {"factor", pattern({1}, 5)}, {"more", 1}});
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("options has 3 elements"));
  inputs[3] = pattern({1}, 5);
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("options must be a dict with the keys"));
  inputs = example("regions");
  inputs[1] = 4;
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("count must be 3, the value that it had"));
  inputs[1] = 3.0;
  inputs[2] = "mean";
  EXPECT_THAT(refusal("regions", inputs).what(), HasSubstr("name must be 'sum'"));
}

}  // namespace
}  // namespace tandem::testing
