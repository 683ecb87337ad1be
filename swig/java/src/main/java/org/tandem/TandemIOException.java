package org.tandem;

/** The operating system refused: open, read, write, bind, connect. */
public final class TandemIOException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemIOException(String operation, String message) {
    super(ErrorCode.IO, operation, message);
  }
}
