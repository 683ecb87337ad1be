package org.tandem;

/** A value, shape, dtype or option that the operation does not take. */
public final class TandemInvalidArgumentException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemInvalidArgumentException(String operation, String message) {
    super(ErrorCode.INVALID_ARGUMENT, operation, message);
  }
}
