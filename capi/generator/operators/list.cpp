// Prints the schema of every operator that the dispatcher of the LibTorch it is linked with lists, a line each, sorted.
// Types are the real ones: what TorchScript calls int may be a ScalarType, a Layout or a SymInt.
#include <ATen/core/dispatch/Dispatcher.h>

#include <iostream>
#include <set>
#include <string>

int main() {
  std::set<std::string> lines;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto found = c10::Dispatcher::singleton().findSchema(name);
    if (!found || name.name.rfind("aten::", 0) != 0) continue;
    lines.insert(c10::toString(found->schema()));
  }
  for (const auto& line : lines) std::cout << line << '\n';
}
