package org.tandem;

/** The operation was aborted, by ProcessGroup.abort() or at the program's end. */
public final class TandemAbortedException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemAbortedException(String operation, String message) {
    super(ErrorCode.ABORTED, operation, message);
  }
}
