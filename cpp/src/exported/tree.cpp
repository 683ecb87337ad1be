#include "exported/tree.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

namespace tandem::exported {
namespace {

[[noreturn]] void misfit(const std::string& name, const std::string& wanted, const at::IValue& given) {
  throw Error(ErrorCode::kInvalidArgument,
              name + " must be " + wanted + ", as it was when the program was exported, not " + given.tagKind());
}

std::string count(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " element" : " elements");
}

Json json_of(const std::string& text, const std::string& where) {
  try {
    return parse_json_document(text);
  } catch (const JsonFault& fault) {
    damaged(where, std::string("is no JSON: ") + fault.what());
  }
}

at::IValue key_of(const Json& key, const std::string& where) {
  if (key.is_string()) return key.get<std::string>();
  if (key.is_number_integer()) return integer(key, where);
  unsupported(where, "has a dict with the key " + key.dump().substr(0, 40) + "; keys are texts or integers here");
}

std::string shown(const at::IValue& key) {
  return key.isString() ? "'" + key.toStringRef() + "'" : std::to_string(key.toInt());
}

}  // namespace

Tree Tree::parse(const std::string& specification, const std::string& where) {
  const Json document = json_of(specification, where);
  const Json& both = list(document, where);
  if (both.size() != 2 || both[0] != 1) unsupported(where, "is a tree specification of a protocol other than 1");
  return parse(both[1], where);
}

Tree Tree::parse(const Json& value, const std::string& where) {
  Tree tree;
  const Json* type = find(value, "type");
  if (!type) return tree;
  const std::string& name = text(*type, where);
  const Json& children = list(value, "children_spec", where);
  const auto context = [&] { return json_of(text(value, "context", where), where); };
  if (name == "builtins.tuple" || name == "collections.namedtuple") {
    tree.kind_ = Kind::kTuple;
  } else if (name == "builtins.list" || name == "collections.deque" ||
             name == "torch.fx.immutable_collections.immutable_list") {
    tree.kind_ = Kind::kList;
  } else if (name == "builtins.dict" || name == "collections.OrderedDict" ||
             name == "torch.fx.immutable_collections.immutable_dict") {
    tree.kind_ = Kind::kDict;
    const Json keys = context();
    for (const Json& key : list(keys, where)) tree.keys_.push_back(key_of(key, where));
    if (tree.keys_.size() != children.size()) damaged(where, "has a dict with more or fewer keys than values");
  } else {
    unsupported(where, "has a container of the type " + name.substr(0, 200) +
                           "; tuples, lists, dicts and named tuples are known: export a module that takes and gives these");
  }
  tree.leaves_ = 0;
  for (const Json& child : children) {
    tree.parts_.push_back(parse(child, where));
    tree.leaves_ += tree.parts_.back().leaves_;
  }
  return tree;
}

void Tree::flatten(const at::IValue& value, const std::string& name, std::vector<Leaf>& into) const {
  switch (kind_) {
    case Kind::kLeaf:
      into.push_back({name, value});
      return;
    case Kind::kDict:
      return flatten_dict(value, name, into);
    case Kind::kTuple:
    case Kind::kList: {
      const std::string wanted =
          std::string(kind_ == Kind::kTuple ? "a tuple" : "a list") + " of " + count(parts_.size());
      // Front ends have one kind of sequence.
      std::vector<at::IValue> elements;
      if (value.isTuple()) {
        const auto& given = value.toTupleRef().elements();
        elements.assign(given.begin(), given.end());
      } else if (value.isList()) {
        const auto given = value.toListRef();
        elements.assign(given.begin(), given.end());
      } else {
        misfit(name, wanted, value);
      }
      if (elements.size() != parts_.size()) {
        throw Error(ErrorCode::kInvalidArgument, name + " must be " + wanted + ", not of " + count(elements.size()));
      }
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        parts_[i].flatten(elements[i], name + "[" + std::to_string(i) + "]", into);
      }
    }
  }
}

void Tree::flatten_dict(const at::IValue& value, const std::string& name, std::vector<Leaf>& into) const {
  std::string keys;
  for (const at::IValue& key : keys_) keys += (keys.empty() ? "" : ", ") + shown(key);
  if (!value.isGenericDict()) misfit(name, "a dict with the keys " + keys, value);
  const auto given = value.toGenericDict();
  const auto wrong = [&](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, name + " " + what + "; the program was exported with the keys " + keys);
  };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    // A dict that has texts for keys compares with nothing else.
    const bool same_kind = given.size() > 0 && given.begin()->key().tagKind() == keys_[i].tagKind();
    const auto found = same_kind ? given.find(keys_[i]) : given.end();
    if (found == given.end()) wrong("has no " + shown(keys_[i]));
    parts_[i].flatten(found->value(), name + "[" + shown(keys_[i]) + "]", into);
  }
  if (given.size() != parts_.size()) wrong("has " + count(given.size()));
}

std::string Tree::structure() const {
  if (kind_ == Kind::kLeaf) return "*";
  std::string text = kind_ == Kind::kTuple ? "(" : kind_ == Kind::kList ? "[" : "{";
  const std::size_t begin = text.size();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (text.size() > begin) text += ", ";
    if (kind_ == Kind::kDict) text += shown(keys_[i]) + ": ";
    text += parts_[i].structure();
  }
  return text + (kind_ == Kind::kTuple ? ")" : kind_ == Kind::kList ? "]" : "}");
}

at::IValue Tree::unflatten(std::vector<at::IValue>::const_iterator& next) const {
  switch (kind_) {
    case Kind::kLeaf:
      return *next++;
    case Kind::kTuple: {
      std::vector<at::IValue> elements;
      for (const Tree& part : parts_) elements.push_back(part.unflatten(next));
      return c10::ivalue::Tuple::create(std::move(elements));
    }
    case Kind::kList: {
      c10::impl::GenericList elements(c10::AnyType::get());
      for (const Tree& part : parts_) elements.push_back(part.unflatten(next));
      return elements;
    }
    case Kind::kDict: {
      const bool texts = keys_.empty() || keys_.front().isString();
      c10::impl::GenericDict items(texts ? c10::TypePtr(c10::StringType::get()) : c10::TypePtr(c10::IntType::get()),
                                   c10::AnyType::get());
      for (std::size_t i = 0; i < parts_.size(); ++i) items.insert(keys_[i], parts_[i].unflatten(next));
      return items;
    }
  }
  return {};
}

}  // namespace tandem::exported
