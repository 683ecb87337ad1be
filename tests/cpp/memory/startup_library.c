// A library that others load and unload while pages are dropped. It knows whether its memory is as the loader left it.
static int target;
int* const addresses[ADDRESSES] = {[0 ... ADDRESSES - 1] = &target}; /* that the loader writes */
const int constants[CONSTANTS] = {[0 ... CONSTANTS - 1] = 3};

__attribute__((visibility("default"))) int is_whole(void) {
  for (int i = 0; i < ADDRESSES; ++i) {
    if (((int* const volatile*)addresses)[i] != &target) return 0;
  }
  for (int i = 0; i < CONSTANTS; ++i) {
    if (((const volatile int*)constants)[i] != 3) return 0;
  }
  return 1;
}
