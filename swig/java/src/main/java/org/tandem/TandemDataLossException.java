package org.tandem;

/** A file whose bytes are not what they claim to be. */
public final class TandemDataLossException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemDataLossException(String operation, String message) {
    super(ErrorCode.DATA_LOSS, operation, message);
  }
}
