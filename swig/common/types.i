// Integers. SWIG knows int64_t as `long long` here, so that it becomes the language's 64-bit type on every platform
// (`long` would become 32 bits in Java); a test passes 2^40 through each way in and out.
%include <stdint.i>

// Unsigned 64 bits: seeds and byte counts. The bits pass as they are; languages without unsigned types see them signed.
%apply int64_t { uint64_t };
%apply int64_t { size_t };
%apply const int64_t& { const uint64_t& };
// Ports.
%apply int32_t { uint16_t };
