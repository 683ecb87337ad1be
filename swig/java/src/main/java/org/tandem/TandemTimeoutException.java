package org.tandem;

/** A wait ended; the message says who was missing. */
public final class TandemTimeoutException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemTimeoutException(String operation, String message) {
    super(ErrorCode.TIMEOUT, operation, message);
  }
}
