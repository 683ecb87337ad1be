// Conversions between JNI's types and C++'s. get() returns false with a Java exception pending.
#pragma once

#include <jni.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/abi.hpp"

// Throws the Java exception of org.tandem that belongs to `code`.
void tandem_throw(JNIEnv* jenv, int32_t code, const char* operation, const char* message);
// Its cause is the Java exception that led to the error, if one did.
void tandem_throw(JNIEnv* jenv, const tandem::abi::Error& error);

namespace tandem_jni {

bool get(JNIEnv* jenv, jbyteArray array, std::string& out);
bool get(JNIEnv* jenv, jobjectArray array, std::vector<std::string>& out);
bool get(JNIEnv* jenv, jlongArray array, std::vector<int64_t>& out);
bool get(JNIEnv* jenv, jdoubleArray array, std::vector<double>& out);
bool get(JNIEnv* jenv, jbooleanArray array, std::vector<uint8_t>& out);
// From addresses of abi::Tensor, 0 for none.
bool get(JNIEnv* jenv, jlongArray array, tandem::abi::TensorList& out);
// From addresses of objects.
template <typename T>
bool get(JNIEnv* jenv, jlongArray array, std::vector<const T*>& out) {
  std::vector<int64_t> addresses;
  if (!get(jenv, array, addresses)) return false;
  for (const int64_t address : addresses) out.push_back(reinterpret_cast<const T*>(address));
  return true;
}
// Takes over the objects at those addresses, 0 for none; null is an empty list.
void take(JNIEnv* jenv, jlongArray array, std::vector<tandem::abi::Tensor>& out);

jbyteArray make(JNIEnv* jenv, const std::string& value);
jobjectArray make(JNIEnv* jenv, const std::vector<std::string>& value);
jlongArray make(JNIEnv* jenv, const std::vector<int64_t>& value);
jdoubleArray make(JNIEnv* jenv, const std::vector<double>& value);
jbooleanArray make(JNIEnv* jenv, const std::vector<uint8_t>& value);
// Addresses of new objects, which the caller owns.
jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Tensor>&& value);
jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Dataset>&& value);
jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Module>&& value);

// A tensor that a callback makes belongs to the scope that native code opened for it. Java, which knows when its
// tensors go, takes them out of all such scopes.
inline tandem::abi::Tensor outside_scopes(tandem::abi::Tensor&& tensor) {
  while (tdm_tensor_scope_id(tensor.raw()) != 0) tdm_scope_keep(tensor.raw());
  return std::move(tensor);
}

template <typename T>  // void or const void
bool get_buffer(JNIEnv* jenv, jobject buffer, T*& out) {
  out = buffer ? jenv->GetDirectBufferAddress(buffer) : nullptr;
  if (out || (buffer && jenv->GetDirectBufferCapacity(buffer) == 0)) return true;
  tandem_throw(jenv, TDM_ERROR_INVALID_ARGUMENT, "buffer",
               "the buffer is not direct; use ByteBuffer.allocateDirect(…).order(ByteOrder.nativeOrder())");
  return false;
}

}  // namespace tandem_jni
