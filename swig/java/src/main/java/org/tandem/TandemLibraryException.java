package org.tandem;

/** A native library is missing, of a wrong version, or loaded twice. */
public final class TandemLibraryException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemLibraryException(String operation, String message) {
    super(ErrorCode.LIBRARY, operation, message);
  }
}
