package org.tandem;

/**
 * What Tandem or LibTorch reported. The message begins with the operation; each {@link ErrorCode} that a program would
 * handle has a subclass of its own.
 */
public class TandemException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final ErrorCode code;
  private final String operation;

  public TandemException(ErrorCode code, String operation, String message) {
    super(operation + ": " + message);
    this.code = code;
    this.operation = operation;
  }

  public ErrorCode code() {
    return code;
  }

  /** The method that failed, "Store.get", or the class whose object could not be made, "RecordIOReader". */
  public String operation() {
    return operation;
  }

  /** The exception of the class that belongs to {@code code}. */
  public static TandemException of(ErrorCode code, String operation, String message) {
    return switch (code) {
      case INVALID_ARGUMENT -> new TandemInvalidArgumentException(operation, message);
      case OUT_OF_RANGE -> new TandemOutOfRangeException(operation, message);
      case NOT_FOUND -> new TandemNotFoundException(operation, message);
      case IO -> new TandemIOException(operation, message);
      case DATA_LOSS -> new TandemDataLossException(operation, message);
      case TIMEOUT -> new TandemTimeoutException(operation, message);
      case ABORTED -> new TandemAbortedException(operation, message);
      case PEER_LOST -> new TandemPeerLostException(operation, message);
      case UNSUPPORTED -> new TandemUnsupportedException(operation, message);
      case CLOSED -> new TandemClosedException(operation, message);
      case LIBRARY -> new TandemLibraryException(operation, message);
      case OUT_OF_MEMORY -> new TandemOutOfMemoryException(operation, message);
      default -> new TandemException(code, operation, message);
    };
  }
}
