// Prints the schema of every operator of a namespace (aten, tandem) that the dispatcher of the LibTorch it is linked
// with lists, a line each, sorted. Types are the real ones: what TorchScript calls int may be a ScalarType, a Layout or
// a SymInt.
#include <ATen/core/dispatch/Dispatcher.h>

#include <iostream>
#include <set>
#include <string>

int main(int, char** arguments) {
  const std::string space = arguments[1] ? std::string(arguments[1]) + "::" : "aten::";
  std::set<std::string> lines;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto found = c10::Dispatcher::singleton().findSchema(name);
    if (!found || name.name.rfind(space, 0) != 0) continue;
    lines.insert(c10::toString(found->schema()));
  }
  for (const auto& line : lines) std::cout << line << '\n';
}
