package org.tandem.elastic;

import org.tandem.TandemClosedException;
import org.tandem.dist.ProcessGroup;
import org.tandem.internal.NativeElastic;

/**
 * What training sees of the membership epoch that it runs in. For the thread that trains, but {@link #leave}, which is for any.
 */
public final class Job {
  private final NativeElastic session;
  private final State state;
  private final ProcessGroup group;
  private Next next = Next.GO_ON;

  Job(NativeElastic session, State state, ProcessGroup group) {
    this.session = session;
    this.state = state;
    this.group = group;
  }

  /**
   * Connects the ranks of this epoch. What is made of it (DDP, loaders, groups) is to be closed before training returns; the
   * group itself goes with the epoch.
   */
  public ProcessGroup group() {
    return group;
  }

  /** Of this process in the epoch. */
  public int rank() {
    return group.rank();
  }

  /** The number of ranks of the epoch. */
  public int size() {
    return group.size();
  }

  /** Of the membership, from 1. */
  public long epoch() {
    return session.epoch();
  }

  /** Completed since the job began, by whatever ranks. */
  public long steps() {
    return session.steps();
  }

  /**
   * Tells that a step is complete, the optimizer's and whatever else belongs to it included. Commits where that is due. All
   * ranks call it.
   *
   * @throws MembershipChangeException ranks join or leave: training begins again with others, from here; let it pass
   * @throws org.tandem.TandemAbortedException another rank was lost; let it pass, too
   * @throws org.tandem.TandemDataLossException this rank has other parameters than most ({@link Elastic.Options#checkEvery})
   */
  public void step() {
    if (stops()) {
      throw new MembershipChangeException(); // which did not pass the first time
    }
    Next said = Next.of(session.step());
    if (said == Next.GO_ON) {
      return;
    }
    commit();
    if (said != Next.COMMIT) {
      next = said;
      throw new MembershipChangeException();
    }
  }

  /** Keeps what training goes on with after a failure, now: on all ranks. {@link #step} does it by itself. */
  public void commit() {
    state.commitTo(session);
  }

  /** Has this process leave, between two of the next steps. From any thread; after the run it does nothing. */
  public void leave() {
    try {
      if (!session.isClosed()) {
        session.leave();
      }
    } catch (TandemClosedException meanwhile) {
      // Then there is nothing to leave.
    }
  }

  /** What the launcher says of the job beside its step, such as a loss; up to 200 bytes. */
  public void describe(String text) {
    session.describe(text);
  }

  /** Whether the epoch ends in order, whatever became of the exception that said so. */
  boolean stops() {
    return next != Next.GO_ON;
  }

  boolean leaves() {
    return next == Next.LEAVE;
  }
}
