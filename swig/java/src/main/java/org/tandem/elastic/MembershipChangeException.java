package org.tandem.elastic;

import org.tandem.ErrorCode;
import org.tandem.TandemException;

/**
 * Ranks have stopped between two steps for others to join or leave: {@link Job#step} throws it through the training, which lets
 * it pass, to {@link Elastic#run}, which begins the training again with the ranks that there are then. Nothing has failed.
 */
public final class MembershipChangeException extends TandemException {
  private static final long serialVersionUID = 1;

  MembershipChangeException() {
    super(ErrorCode.ABORTED, "Job.step",
        "ranks join or leave: training goes on in the next membership epoch (let this exception pass)");
  }
}
