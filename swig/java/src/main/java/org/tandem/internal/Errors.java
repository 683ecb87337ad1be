package org.tandem.internal;

import java.nio.charset.StandardCharsets;
import org.tandem.ErrorCode;
import org.tandem.TandemException;

/** Called from JNI: exceptions for errors of the C ABI, and what is said there of the program's own. */
final class Errors {
  private Errors() {}

  /** {@code cause}: what a callback threw that led to the error, or null. */
  static Throwable create(int code, byte[] operation, byte[] message, Throwable cause) {
    TandemException error = TandemException.of(ErrorCode.of(code), Utf8.decode(operation), Utf8.decode(message));
    return cause == null ? error : error.initCause(cause);
  }

  /** Class and message. */
  static byte[] describe(Throwable thrown) {
    return thrown.toString().getBytes(StandardCharsets.UTF_8);
  }
}
