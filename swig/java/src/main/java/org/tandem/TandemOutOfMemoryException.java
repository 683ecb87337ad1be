package org.tandem;

/** Native memory is exhausted. */
public final class TandemOutOfMemoryException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemOutOfMemoryException(String operation, String message) {
    super(ErrorCode.OUT_OF_MEMORY, operation, message);
  }
}
