#include "jni_convert.h"

#include <memory>

#include "jni_upcall.h"

namespace {

// Looked up once: threads that Java did not start see another class loader.
jclass g_errors = nullptr;
jclass g_bytes = nullptr;
jmethodID g_create = nullptr;

bool null_argument(JNIEnv* jenv, const void* argument) {
  if (!argument) tandem_throw(jenv, TDM_ERROR_INVALID_ARGUMENT, "call", "an argument is null");
  return !argument;
}

void create_and_throw(JNIEnv* jenv, int32_t code, const std::string& operation, const std::string& message,
                      jthrowable cause) {
  if (jenv->ExceptionCheck()) return;
  const jbyteArray operation_bytes = tandem_jni::make(jenv, operation);
  const jbyteArray message_bytes = operation_bytes ? tandem_jni::make(jenv, message) : nullptr;
  if (!message_bytes) return;  // OutOfMemoryError is pending
  const jobject thrown = jenv->CallStaticObjectMethod(g_errors, g_create, code, operation_bytes, message_bytes, cause);
  if (thrown) jenv->Throw(static_cast<jthrowable>(thrown));
}

// Addresses of the new objects that the values move into.
template <typename T, typename Exists>
jlongArray make_objects(JNIEnv* jenv, std::vector<T>& values, Exists exists) {
  std::vector<int64_t> addresses;
  const jlongArray array = jenv->NewLongArray(static_cast<jsize>(values.size()));
  if (!array) return nullptr;
  for (T& value : values) {
    addresses.push_back(exists(value) ? reinterpret_cast<int64_t>(new T(std::move(value))) : 0);
  }
  jenv->SetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), reinterpret_cast<jlong*>(addresses.data()));
  return array;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* jenv = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jenv), JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  const jclass errors = jenv->FindClass("org/tandem/internal/Errors");
  if (!errors) return JNI_ERR;
  g_errors = static_cast<jclass>(jenv->NewGlobalRef(errors));
  g_create = jenv->GetStaticMethodID(g_errors, "create", "(I[B[BLjava/lang/Throwable;)Ljava/lang/Throwable;");
  g_bytes = static_cast<jclass>(jenv->NewGlobalRef(jenv->FindClass("[B")));
  if (!g_create || !g_bytes || !tandem_jni::start_upcalls(vm, jenv, g_errors)) return JNI_ERR;
  return JNI_VERSION_10;
}

void tandem_throw(JNIEnv* jenv, int32_t code, const char* operation, const char* message) {
  create_and_throw(jenv, code, operation, message, nullptr);
}

void tandem_throw(JNIEnv* jenv, const tandem::abi::Error& error) {
  create_and_throw(jenv, error.code(), error.operation(), error.message(), tandem_jni::java_cause(error.cause()));
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

void take(JNIEnv* jenv, jlongArray array, std::vector<tandem::abi::Tensor>& out) {
  std::vector<int64_t> addresses;
  if (array) get(jenv, array, addresses);
  for (const int64_t address : addresses) {
    const std::unique_ptr<tandem::abi::Tensor> object(reinterpret_cast<tandem::abi::Tensor*>(address));
    out.push_back(object ? std::move(*object) : tandem::abi::Tensor());
  }
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
  return make_objects(jenv, value, [](tandem::abi::Tensor& tensor) {
    tensor = outside_scopes(std::move(tensor));
    return tensor.defined();
  });
}

jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Dataset>&& value) {
  return make_objects(jenv, value, [](const tandem::abi::Dataset&) { return true; });
}

jlongArray make(JNIEnv* jenv, std::vector<tandem::abi::Module>&& value) {
  return make_objects(jenv, value, [](const tandem::abi::Module&) { return true; });
}

}  // namespace tandem_jni
