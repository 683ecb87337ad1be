package org.tandem;

/** An index past the end. */
public final class TandemOutOfRangeException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemOutOfRangeException(String operation, String message) {
    super(ErrorCode.OUT_OF_RANGE, operation, message);
  }
}
