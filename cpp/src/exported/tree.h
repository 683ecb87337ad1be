// How a program's inputs and outputs nest: the tree specifications of torch.utils._pytree.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <utility>
#include <vector>

#include "exported/json_fields.h"

namespace tandem::exported {

class Tree {
 public:
  struct Leaf {
    std::string name;  // "d['a'][0]"
    at::IValue value;
  };

  // `specification`: the JSON text of treespec_dumps(). Throws tandem::Error: kDataLoss; kUnsupported for containers
  // other than tuples, lists, dicts and named tuples, which are named.
  static Tree parse(const std::string& specification, const std::string& where);

  std::size_t leaves() const { return leaves_; }
  bool is_tuple() const { return kind_ == Kind::kTuple; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  const std::vector<Tree>& parts() const { return parts_; }
  // "([*, *], {a: *})": the same for trees that are.
  std::string structure() const;
  // Of a dict with texts for keys.
  const std::vector<at::IValue>& keys() const { return keys_; }

  // Adds the leaves of `value`. Throws Error (kInvalidArgument), which names what has another structure.
  void flatten(const at::IValue& value, const std::string& name, std::vector<Leaf>& into) const;
  // A value with these leaves, from `next` on.
  at::IValue unflatten(std::vector<at::IValue>::const_iterator& next) const;

 private:
  enum class Kind { kLeaf, kTuple, kList, kDict };

  static Tree parse(const Json& value, const std::string& where);
  void flatten_dict(const at::IValue& value, const std::string& name, std::vector<Leaf>& into) const;

  Kind kind_ = Kind::kLeaf;
  std::vector<at::IValue> keys_;  // of a dict: texts or integers
  std::vector<Tree> parts_;
  std::size_t leaves_ = 1;
};

}  // namespace tandem::exported
