// Members of LibTorch's classes that have no accessor.
#pragma once

namespace tandem::rpc {
namespace {  // where its instantiations are

// An explicit instantiation may name private members. Declare `struct Tag { friend auto& member_of(Class&, Tag); };` and
// instantiate `template struct Expose<Class, Tag, &Class::member_>;`. Where a release renames them this does not compile.
template <typename Class, typename Tag, auto kMember>
struct Expose {
  friend auto& member_of(Class& object, Tag) { return object.*kMember; }
};

}  // namespace
}  // namespace tandem::rpc
