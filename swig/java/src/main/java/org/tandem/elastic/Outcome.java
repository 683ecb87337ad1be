package org.tandem.elastic;

/** How {@link Elastic#run} came to its end without an exception. */
public enum Outcome {
  /** Training has come to its end, here. */
  FINISHED,
  /** It came to its end without this process, a spare. */
  NOT_NEEDED,
  /** This process left: {@link Elastic#leave}, a signal, or the end of the program. */
  LEFT
}
