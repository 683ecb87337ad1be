package org.tandem.dist;

/** How elements are combined; the order is that of the C ABI's numbers. */
public enum ReduceOp {
  SUM,
  AVG,
  PRODUCT,
  MIN,
  MAX,
  BAND,
  BOR,
  BXOR
}
