package org.tandem;

/** Kinds of errors; the numbers are those of the C ABI. */
public enum ErrorCode {
  INTERNAL(1),
  INVALID_ARGUMENT(2),
  OUT_OF_RANGE(3),
  NOT_FOUND(4),
  IO(5),
  DATA_LOSS(6),
  TIMEOUT(7),
  ABORTED(8),
  PEER_LOST(9),
  UNSUPPORTED(10),
  CLOSED(11),
  LIBRARY(12),
  OUT_OF_MEMORY(13),
  CALLBACK(14);

  private final int number;

  ErrorCode(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /** INTERNAL for a number that a newer library gives. */
  public static ErrorCode of(int number) {
    for (ErrorCode code : values()) {
      if (code.number == number) {
        return code;
      }
    }
    return INTERNAL;
  }
}
