package org.tandem;

/** A file, operator, module type, option or key that does not exist. */
public final class TandemNotFoundException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemNotFoundException(String operation, String message) {
    super(ErrorCode.NOT_FOUND, operation, message);
  }
}
