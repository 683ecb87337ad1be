package org.tandem.internal;

import org.tandem.ErrorCode;
import org.tandem.TandemException;

/** Called from JNI to make the exception that belongs to an error of the C ABI. */
final class Errors {
  private Errors() {}

  static Throwable create(int code, byte[] operation, byte[] message) {
    return TandemException.of(ErrorCode.of(code), Utf8.decode(operation), Utf8.decode(message));
  }
}
