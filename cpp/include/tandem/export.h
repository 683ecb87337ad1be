// What libtandem_core exports to C++ programs.
#pragma once

#define TANDEM_API __attribute__((visibility("default")))
