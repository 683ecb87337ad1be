package org.tandem;

/** This build, LibTorch or machine cannot do it. */
public final class TandemUnsupportedException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemUnsupportedException(String operation, String message) {
    super(ErrorCode.UNSUPPORTED, operation, message);
  }
}
