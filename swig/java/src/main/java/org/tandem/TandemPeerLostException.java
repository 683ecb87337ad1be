package org.tandem;

/** Another rank died or closed its connection. */
public final class TandemPeerLostException extends TandemException {
  private static final long serialVersionUID = 1;

  public TandemPeerLostException(String operation, String message) {
    super(ErrorCode.PEER_LOST, operation, message);
  }
}
