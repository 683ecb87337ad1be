package org.tandem;

/** Types of elements; the numbers are those of the C ABI. */
public enum DType {
  UINT8(0, 1),
  INT8(1, 1),
  INT16(2, 2),
  INT32(3, 4),
  INT64(4, 8),
  FLOAT16(5, 2),
  FLOAT32(6, 4),
  FLOAT64(7, 8),
  COMPLEX32(8, 4),
  COMPLEX64(9, 8),
  COMPLEX128(10, 16),
  BOOL(11, 1),
  BFLOAT16(15, 2),
  FLOAT8_E5M2(23, 1),
  FLOAT8_E4M3FN(24, 1),
  UINT16(27, 2),
  UINT32(28, 4),
  UINT64(29, 8);

  private final int number;
  private final int bytes;

  DType(int number, int bytes) {
    this.number = number;
    this.bytes = bytes;
  }

  public int number() {
    return number;
  }

  /** Source: torch.dtype.is_floating_point. */
  public boolean isFloatingPoint() {
    return switch (this) {
      case FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT8_E5M2, FLOAT8_E4M3FN -> true;
      default -> false;
    };
  }

  /** Size of an element in bytes. */
  public int bytes() {
    return bytes;
  }

  public static DType of(int number) {
    for (DType dtype : values()) {
      if (dtype.number == number) {
        return dtype;
      }
    }
    throw new TandemUnsupportedException("DType.of", "this front end does not know dtype number " + number);
  }
}
