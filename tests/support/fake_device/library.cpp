// The fake device for programs that load it at run time.
#include "support/fake_device/fake_device.h"

namespace {

const bool installed = [] {
  tandem::testing::fake_device::install();
  return true;
}();

}  // namespace
