package org.tandem;

/** The object was closed before, or Tandem was shut down. */
public final class TandemClosedException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemClosedException(String operation, String message) {
    super(ErrorCode.CLOSED, operation, message);
  }
}
