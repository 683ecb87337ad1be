package org.tandem.internal;

/** What a native value is: tdm_value_tag. */
public final class ValueTag {
  public static final int NONE = 0;
  public static final int TENSOR = 2;
  public static final int BOOL = 3;
  public static final int INT = 4;
  public static final int DOUBLE = 5;
  public static final int STRING = 7;
  public static final int DTYPE = 8;
  public static final int DEVICE = 11;
  public static final int TENSOR_LIST = 12;
  public static final int BOOL_LIST = 13;
  public static final int INT_LIST = 14;
  public static final int DOUBLE_LIST = 15;
  public static final int STRING_LIST = 16;
  public static final int TUPLE = 19;
  public static final int DICT = 20;
  public static final int LIST = 21;
  public static final int RREF = 22;

  private ValueTag() {}
}
