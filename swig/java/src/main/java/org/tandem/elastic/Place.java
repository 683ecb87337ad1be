package org.tandem.elastic;

import java.util.Arrays;
import org.tandem.TandemClosedException;
import org.tandem.data.Loader;

/**
 * How far training has come in its data, whichever loader goes through them: each membership epoch has one of its own, for its
 * rank and number of ranks. See {@link State#place}.
 */
public final class Place {
  private byte[] state = new byte[0];
  private Loader loader;

  /**
   * Has the loader, which is new, go on where training stands, and asks it from now on: what it has committed counts. Where
   * one takes the place of another within an epoch of the membership, follow it before that one is closed.
   */
  public void follow(Loader next) {
    try {
      state();
    } catch (TandemClosedException before) {
      // Then what it said last is where training stands.
    }
    if (state.length > 0) {
      next.restore(state);
    }
    loader = next;
  }

  /** {@link Loader#state}; empty before there was a loader. */
  byte[] state() {
    if (loader != null) {
      state = loader.state();
    }
    return state;
  }

  /** The next loader goes on there. */
  void restore(byte[] from) {
    state = Arrays.copyOf(from, from.length);
    loader = null;
  }
}
