package org.tandem.data;

/** What becomes of the end of an epoch, less than a global batch. */
public enum Tail {
  /** A smaller global batch; ranks may get none of it. */
  SHORT,
  /** Left out. */
  DROP,
  /** A global batch filled up with zeros, which a mask tells from samples. */
  PAD,
  /** A global batch filled up with the epoch's first samples. */
  REPEAT,
  /** Filled up so far only that all ranks get equally many, which depends on their number. */
  EVEN;

  /** In the C ABI. */
  int number() {
    return ordinal() + 1;
  }
}
