// The library that AOTInductor's are linked with.
#pragma once

namespace tandem::exported {

// AOTInductor links with libtorch.so, which has no code but needs all of LibTorch: libtorch_cuda.so too, which a run on
// the CPU has not loaded and must not. There an empty library of that name takes its place, and the dynamic linker, which
// goes by names, asks for no other. Throws tandem::Error (kLibrary).
void provide_libtorch();

}  // namespace tandem::exported
