#include "jni_convert.h"

namespace {

// Looked up once: threads that Java did not start see another class loader.
jclass g_errors = nullptr;
jclass g_bytes = nullptr;
jmethodID g_create = nullptr;

bool null_argument(JNIEnv* jenv, const void* argument) {
  if (!argument) tandem_throw(jenv, TDM_ERROR_INVALID_ARGUMENT, "call", "an argument is null");
  return !argument;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* jenv = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jenv), JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  const jclass errors = jenv->FindClass("org/tandem/internal/Errors");
  if (!errors) return JNI_ERR;
  g_errors = static_cast<jclass>(jenv->NewGlobalRef(errors));
  g_create = jenv->GetStaticMethodID(g_errors, "create", "(I[B[B)Ljava/lang/Throwable;");
  g_bytes = static_cast<jclass>(jenv->NewGlobalRef(jenv->FindClass("[B")));
  return g_create && g_bytes ? JNI_VERSION_10 : JNI_ERR;
}

void tandem_throw(JNIEnv* jenv, int32_t code, const char* operation, const char* message) {
  if (jenv->ExceptionCheck()) return;
  const jbyteArray operation_bytes = tandem_jni::make(jenv, std::string(operation));
  const jbyteArray message_bytes = operation_bytes ? tandem_jni::make(jenv, std::string(message)) : nullptr;
  if (!message_bytes) return;  // OutOfMemoryError is pending
  const jobject thrown = jenv->CallStaticObjectMethod(g_errors, g_create, code, operation_bytes, message_bytes);
  if (thrown) jenv->Throw(static_cast<jthrowable>(thrown));
}

namespace tandem_jni {

bool get(JNIEnv* jenv, jbyteArray array, std::string& out) {
  if (null_argument(jenv, array)) return false;
  out.resize(static_cast<size_t>(jenv->GetArrayLength(array)));
  jenv->GetByteArrayRegion(array, 0, static_cast<jsize>(out.size()), reinterpret_cast<jbyte*>(out.data()));
  return true;
}

bool get(JNIEnv* jenv, jobjectArray array, std::vector<std::string>& out) {
  if (null_argument(jenv, array)) return false;
  out.resize(static_cast<size_t>(jenv->GetArrayLength(array)));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto element = static_cast<jbyteArray>(jenv->GetObjectArrayElement(array, static_cast<jsize>(i)));
    if (!get(jenv, element, out[i])) return false;
    jenv->DeleteLocalRef(element);
  }
  return true;
}

bool get(JNIEnv* jenv, jlongArray array, std::vector<int64_t>& out) {
  if (null_argument(jenv, array)) return false;
  out.resize(static_cast<size_t>(jenv->GetArrayLength(array)));
  jenv->GetLongArrayRegion(array, 0, static_cast<jsize>(out.size()), reinterpret_cast<jlong*>(out.data()));
  return true;
}

bool get(JNIEnv* jenv, jdoubleArray array, std::vector<double>& out) {
  if (null_argument(jenv, array)) return false;
  out.resize(static_cast<size_t>(jenv->GetArrayLength(array)));
  jenv->GetDoubleArrayRegion(array, 0, static_cast<jsize>(out.size()), out.data());
  return true;
}

bool get(JNIEnv* jenv, jbooleanArray array, std::vector<uint8_t>& out) {
  if (null_argument(jenv, array)) return false;
  out.resize(static_cast<size_t>(jenv->GetArrayLength(array)));
  jenv->GetBooleanArrayRegion(array, 0, static_cast<jsize>(out.size()), out.data());
  return true;
}

bool get(JNIEnv* jenv, jlongArray array, tandem::abi::TensorList& out) {
  std::vector<int64_t> addresses;
  if (!get(jenv, array, addresses)) return false;
  for (const int64_t address : addresses) {
    if (address) {
      out.add(*reinterpret_cast<const tandem::abi::Tensor*>(address));
    } else {
      out.add_none();
    }
  }
  return true;
}

jbyteArray make(JNIEnv* jenv, const std::string& value) {
  const auto size = static_cast<jsize>(value.size());
  const jbyteArray array = jenv->NewByteArray(size);
  if (array) jenv->SetByteArrayRegion(array, 0, size, reinterpret_cast<const jbyte*>(value.data()));
  return array;
}

jobjectArray make(JNIEnv* jenv, const std::vector<std::string>& value) {
  const jobjectArray array = jenv->NewObjectArray(static_cast<jsize>(value.size()), g_bytes, nullptr);
  for (size_t i = 0; array && i < value.size(); ++i) {
    const jbyteArray element = make(jenv, value[i]);
    if (!element) return nullptr;
    jenv->SetObjectArrayElement(array, static_cast<jsize>(i), element);
    jenv->DeleteLocalRef(element);
  }
  return array;
}

jlongArray make(JNIEnv* jenv, const std::vector<int64_t>& value) {
  const auto size = static_cast<jsize>(value.size());
  const jlongArray array = jenv->NewLongArray(size);
  if (array) jenv->SetLongArrayRegion(array, 0, size, reinterpret_cast<const jlong*>(value.data()));
  return array;
}

jdoubleArray make(JNIEnv* jenv, const std::vector<double>& value) {
  const auto size = static_cast<jsize>(value.size());
  const jdoubleArray array = jenv->NewDoubleArray(size);
  if (array) jenv->SetDoubleArrayRegion(array, 0, size, value.data());
  return array;
}

jbooleanArray make(JNIEnv* jenv, const std::vector<uint8_t>& value) {
  const auto size = static_cast<jsize>(value.size());
  const jbooleanArray array = jenv->NewBooleanArray(size);
  if (array) jenv->SetBooleanArrayRegion(array, 0, size, value.data());
  return array;
}

jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Tensor>&& value) {
  std::vector<int64_t> addresses;
  const jlongArray array = jenv->NewLongArray(static_cast<jsize>(value.size()));
  if (!array) return nullptr;
  for (tandem::abi::Tensor& tensor : value) {
    addresses.push_back(tensor.defined() ? reinterpret_cast<int64_t>(new tandem::abi::Tensor(std::move(tensor))) : 0);
  }
  jenv->SetLongArrayRegion(array, 0, static_cast<jsize>(value.size()), reinterpret_cast<jlong*>(addresses.data()));
  return array;
}

}  // namespace tandem_jni
