package org.tandem.data;

/** What becomes of the end of an epoch, less than a global batch. */
public enum Tail {
  /** A smaller global batch; ranks may get none of it. */
  SHORT(1),
  /** Left out. */
  DROP(2),
  /** A global batch filled up with zeros, which a mask tells from samples. */
  PAD(3),
  /** A global batch filled up with the epoch's first samples. */
  REPEAT(4),
  /** Filled up so far only that all ranks get equally many, which depends on their number. */
  EVEN(5);

  private final int number;

  Tail(int number) {
    this.number = number;
  }

  /** In the C ABI. */
  int number() {
    return number;
  }
}
