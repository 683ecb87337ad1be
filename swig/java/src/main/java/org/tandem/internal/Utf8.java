package org.tandem.internal;

import java.nio.charset.StandardCharsets;
import org.tandem.TandemInvalidArgumentException;

/** Text on its way through JNI. */
final class Utf8 {
  private Utf8() {}

  static byte[] encode(String text) {
    if (text == null) {
      throw new TandemInvalidArgumentException("call", "a text argument is null");
    }
    if (text.indexOf('\0') >= 0) {
      throw new TandemInvalidArgumentException("call", "a text argument contains the character NUL");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[][] encode(String[] texts) {
    byte[][] encoded = new byte[texts.length][];
    for (int i = 0; i < texts.length; i++) {
      encoded[i] = encode(texts[i]);
    }
    return encoded;
  }

  static String decode(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static String[] decode(byte[][] texts) {
    String[] decoded = new String[texts.length];
    for (int i = 0; i < texts.length; i++) {
      decoded[i] = decode(texts[i]);
    }
    return decoded;
  }
}
