package org.tandem.dist;

/** How elements are combined. */
public enum ReduceOp {
  SUM(0),
  AVG(1),
  PRODUCT(2),
  MIN(3),
  MAX(4),
  BAND(5),
  BOR(6),
  BXOR(7);

  private final int number;

  ReduceOp(int number) {
    this.number = number;
  }

  /** In the C ABI. */
  int number() {
    return number;
  }
}
