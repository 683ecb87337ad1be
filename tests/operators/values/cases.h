// cases.txt, line by line: what both C++ programs start from.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace values {

struct Case {
  std::string key;
  std::vector<std::string> arguments;
};

inline std::vector<Case> read_cases(const char* path) {
  std::vector<Case> cases;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("case ", 0) == 0) {
      cases.push_back({line.substr(5), {}});
    } else {
      cases.back().arguments.push_back(line);
    }
  }
  return cases;
}

inline std::string read_word(std::istream& in) {
  std::string word;
  in >> word;
  return word;
}

// What a tensor's line says after "tensor".
struct TensorText {
  int dtype = 0;
  std::string form;
  std::vector<std::int64_t> sizes;
  std::vector<double> elements;  // pairs of complex ones

  static TensorText read(std::istream& in) {
    TensorText text;
    std::size_t count = 0;
    in >> text.dtype >> text.form >> count;
    text.sizes.resize(count);
    for (auto& size : text.sizes) in >> size;
    in >> count;
    // operator>> does not read "nan" and "inf".
    for (std::size_t i = 0; i < count; ++i) text.elements.push_back(std::stod(read_word(in)));
    return text;
  }
};

inline std::string number(double x) {
  char text[64];
  std::snprintf(text, sizeof text, " %.17g", x);
  return text;
}

inline std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace values
