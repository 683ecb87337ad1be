package org.tandem;

/** An operator that is looked up at its first call, so that class initialisation needs no library. */
final class LazyOperator {
  private final String name;
  private final String overload;
  private volatile Operator found;

  LazyOperator(String name) {
    this(name, "");
  }

  LazyOperator(String name, String overload) {
    this.name = "aten::" + name;
    this.overload = overload;
  }

  Tensor call(Object... arguments) {
    Operator operator = found;
    if (operator == null) {
      operator = Operator.find(name, overload);
      found = operator;
    }
    return operator.call(arguments);
  }
}
