package org.tandem.elastic;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.tandem.Device;
import org.tandem.TandemClosedException;
import org.tandem.TandemException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.dist.ProcessGroup;
import org.tandem.internal.NativeElastic;
import org.tandem.internal.NativeElasticOptions;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeProcessGroup;
import org.tandem.internal.NativeProcessGroupOptions;
import org.tandem.internal.Natives;

/**
 * Trains while ranks come and go: a process that is lost costs the steps since the last commit, and not the run; one that is
 * started again, or a spare, takes its place; others join between two steps. Survivors go on in the same process. Under {@code
 * tandem run}; docs/elastic.md says what happens when.
 *
 * <pre>{@code
 * Place place = new Place(); // in the data
 * State state = new State().module("model", net).optimizer("optimizer", sgd).place("data", place);
 * Outcome outcome = Elastic.run(state, job -> {
 *   try (DistributedDataParallel model = new DistributedDataParallel(net, job.group());
 *        Loader loader = new Loader(data, new Loader.Options().batchSize(64).rank(job.rank(), job.size()))) {
 *     place.follow(loader);
 *     while (job.steps() < steps) {
 *       for (Loader.Batch batch : loader.epoch(loader.currentEpoch())) {
 *         … backward, sgd.step() …
 *         loader.commit();
 *         job.step();
 *       }
 *     }
 *   }
 * }, new Elastic.Options());
 * }</pre>
 *
 * <p>An object is one run. {@link #leave}, {@link #abort} and {@link #close} may come from any thread; the rest is the thread's
 * that trains.
 */
public final class Elastic implements AutoCloseable {
  private static final String AGENT_VARIABLE = "TANDEM_AGENT"; // as `tandem run` sets it

  /** Defaults: a commit every 10 steps, no checkpoints, on the CPU. */
  public static final class Options {
    private String backend;
    private Duration timeout = Duration.ofMinutes(30);
    private Device device = Device.CPU;
    private String interfaceName = "";
    private long commitEvery = 10;
    private Path checkpoints;
    private long checkpointEvery;
    private int checkpointsKept = 3;
    private Long seed;
    private long checkEvery;
    private Duration leaveAtExit = Duration.ofSeconds(30);
    private boolean leaveOnSignal;

    /** Of the groups, as {@link ProcessGroup.Options#backend} has it; unset: "auto", on a GPU "nccl". */
    public Options backend(String value) {
      backend = value;
      return this;
    }

    /** Of each collective. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    /** Of this rank. */
    public Options device(Device value) {
      device = value;
      return this;
    }

    /** Of the network, for gloo. */
    public Options interfaceName(String value) {
      interfaceName = value;
      return this;
    }

    /** Steps: what a failure costs at most, against a copy of the state in memory. */
    public Options commitEvery(long value) {
      commitEvery = value;
      return this;
    }

    /** A folder that all ranks see: where nobody is left, training goes on from its newest checkpoint. */
    public Options checkpoints(Path value) {
      checkpoints = value;
      return this;
    }

    /** Steps, a multiple of {@link #commitEvery}, after which a checkpoint is written beside training; 0: none is. */
    public Options checkpointEvery(long value) {
      checkpointEvery = value;
      return this;
    }

    /** How many checkpoints stay, of the newest; 0: all. */
    public Options checkpointsKept(int value) {
      checkpointsKept = value;
      return this;
    }

    /**
     * Random numbers of the CPU, and of the device, are those of (seed, step, rank) in each step, so that a step that is made
     * again draws what it drew before, whoever makes it.
     */
    public Options seed(long value) {
      seed = value;
      return this;
    }

    /**
     * Steps, a multiple of {@link #commitEvery}, after which all ranks compare their parameters, by hashes; 0: never. A rank
     * that has others than most computes wrongly: its {@link Elastic#run} throws {@link
     * org.tandem.TandemDataLossException}, and the others go on without it from the last commit. Where there is no majority,
     * as with two ranks, all of them throw that.
     */
    public Options checkEvery(long value) {
      checkEvery = value;
      return this;
    }

    /**
     * How long the end of the program waits for this process to complete its step, commit and leave: Java begins it at
     * SIGTERM, SIGINT and SIGHUP (not with -Xrs). Zero: it waits for nothing, and the others lose a rank. Without {@code
     * tandem run}, whose agent tells the others, it never waits. Where it is the launcher that ends, it kills all that have
     * not ended after its {@code --grace}, 5 s unless it is given: whose steps are long needs more.
     */
    public Options leaveAtExit(Duration value) {
      leaveAtExit = value;
      return this;
    }

    /** Has SIGUSR1, which ends a Java program else, make this process leave as {@link Elastic#leave} does, and live on. */
    public Options leaveOnSignal(boolean value) {
      leaveOnSignal = value;
      return this;
    }

    private void check() {
      if (commitEvery < 1 || checkpointEvery < 0 || checkEvery < 0 || checkpointsKept < 0 || leaveAtExit.isNegative()) {
        throw new TandemInvalidArgumentException("Elastic", "commitEvery is a number of steps from 1, and checkpointEvery,"
            + " checkEvery, checkpointsKept and leaveAtExit are no negative ones; they are " + commitEvery + ", "
            + checkpointEvery + ", " + checkEvery + ", " + checkpointsKept + " and " + leaveAtExit);
      }
      if (checkpointEvery % commitEvery != 0 || checkEvery % commitEvery != 0) {
        throw new TandemInvalidArgumentException("Elastic", "checkpointEvery, " + checkpointEvery + ", and checkEvery, "
            + checkEvery + ", are to be multiples of commitEvery, " + commitEvery + ": both are about what is committed");
      }
      if (checkpointEvery > 0 && checkpoints == null) {
        throw new TandemInvalidArgumentException("Elastic", "checkpointEvery is set, but no folder for checkpoints");
      }
    }

    private NativeProcessGroupOptions group() {
      NativeProcessGroupOptions natives = new NativeProcessGroupOptions();
      boolean cuda = device.type() == Device.Type.CUDA;
      natives.setBackend(backend != null ? backend : cuda ? "nccl" : "auto");
      natives.setTimeoutMs(timeout.toMillis());
      natives.setDeviceType(device.type().number());
      natives.setDeviceIndex(device.index());
      natives.setInterfaceName(interfaceName);
      return natives;
    }

    private NativeElasticOptions session() {
      NativeElasticOptions natives = new NativeElasticOptions();
      natives.setCommitEvery(commitEvery);
      natives.setCheckpoints(checkpoints == null ? "" : checkpoints.toString());
      natives.setCheckpointEvery(checkpointEvery);
      natives.setCheckpointsKept(checkpointsKept);
      natives.setHasSeed(seed != null);
      natives.setSeed(seed == null ? 0 : seed);
      natives.setCheckEvery(checkEvery);
      return natives;
    }
  }

  private final NativeElastic handle;
  private final Duration leaveAtExit;
  private final boolean hasSeed;
  private boolean ran;
  private volatile boolean runs;

  /**
   * Connects to the launcher's agent.
   *
   * @throws org.tandem.TandemIOException it cannot be reached
   */
  public Elastic(Options options) {
    options.check();
    NativeLibrary.load();
    leaveAtExit = options.leaveAtExit;
    hasSeed = options.seed != null;
    try (NativeProcessGroupOptions group = options.group(); NativeElasticOptions session = options.session()) {
      handle = new NativeElastic(group, session);
    }
    if (options.leaveOnSignal) {
      try {
        handle.leaveOnSignal();
      } catch (RuntimeException refused) {
        handle.close();
        throw refused;
      }
    }
  }

  /** {@link #run(State, Training)} of an object that it makes and closes. */
  public static <E extends Exception> Outcome run(State state, Training<E> train, Options options) throws E {
    try (Elastic elastic = new Elastic(options)) {
      return elastic.run(state, train);
    }
  }

  /**
   * Calls {@code train}, again with other ranks whenever that changes: with the state of the last commit after a failure, from
   * where it was where ranks join or leave. {@code state} has what training goes on with; it is the same on all ranks, and the
   * first rank's to begin with. {@code train} returns when training is over; exceptions that it throws are thrown here, unless
   * a rank was lost: whatever that causes, {@link org.tandem.TandemPeerLostException} for one, is to pass. InterruptedException
   * and {@link Error} always come out. What is thrown in place of a {@link MembershipChangeException}, and has it neither as a
   * cause nor suppressed, comes out where this process leaves; else it is logged, and training goes on.
   *
   * <p>Without {@code tandem run} there is one epoch: of the ranks that a launcher's environment names, or of one.
   *
   * @throws org.tandem.TandemPeerLostException the launcher is gone
   * @throws org.tandem.TandemAbortedException after {@link #abort}, or 20 epochs in a row ended before there was a commit
   * @throws org.tandem.TandemInvalidArgumentException the ranks' states have other names or shapes, or it ran already
   */
  public <E extends Exception> Outcome run(State state, Training<E> train) throws E {
    if (ran) {
      throw new TandemInvalidArgumentException("Elastic.run", "an object is one run; make another one");
    }
    if (hasSeed && state.hasRng()) {
      throw new TandemInvalidArgumentException("Elastic.run",
          "seed() makes the random numbers of each step, and the state's rng() keeps others; give one of them");
    }
    ran = true;
    runs = true;
    String agent = System.getenv(AGENT_VARIABLE);
    boolean waits = agent != null && !agent.isEmpty() && !leaveAtExit.isZero();
    try (LeaveAtExit ending = waits ? new LeaveAtExit(this::leave, leaveAtExit) : null) {
      return epochs(state, train);
    } finally {
      runs = false;
    }
  }

  private <E extends Exception> Outcome epochs(State state, Training<E> train) throws E {
    NativeElastic session = open();
    state.commitTo(session);
    while (true) {
      NativeProcessGroup met = session.meet();
      if (!met.exists()) {
        met.close();
        return session.hasLeft() ? Outcome.LEFT : Outcome.NOT_NEEDED;
      }
      ProcessGroup group = Natives.group(met);
      Job job = new Job(session, state, group);
      try (group) {
        state.load(session, job);
        train.run(job);
        if (!job.stops()) {
          session.done();
          return Outcome.FINISHED;
        }
      } catch (Exception failed) {
        boolean isInterrupt = failed instanceof InterruptedException;
        if (!job.stops()) {
          if (isInterrupt || !hasEnded(failed)) {
            throw failed;
          }
        } else if (isInterrupt || !isChange(failed)) {
          if (job.leaves()) {
            session.left(); // what it has done is committed: the others need not wait for it
          }
          if (isInterrupt || job.leaves()) {
            throw failed;
          }
          System.getLogger("org.tandem").log(
              System.Logger.Level.WARNING, "the ranks change, and training goes on in spite of what it threw: " + failed);
        }
      }
      if (job.leaves()) {
        session.left();
        return Outcome.LEFT;
      }
    }
  }

  /** Whether the notice of the change is what training threw, or what that came of. */
  private static boolean isChange(Throwable thrown) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> open = new ArrayDeque<>(List.of(thrown));
    while (!open.isEmpty()) {
      Throwable next = open.pop();
      if (next instanceof MembershipChangeException) {
        return true;
      }
      if (seen.add(next)) {
        open.addAll(List.of(next.getSuppressed()));
        if (next.getCause() != null) {
          open.add(next.getCause());
        }
      }
    }
    return false;
  }

  /** Whether it is the loss of a rank that shows as this. */
  private boolean hasEnded(Exception failed) {
    try {
      return open().hasEnded();
    } catch (TandemException closed) {
      failed.addSuppressed(closed);
      return false;
    }
  }

  private NativeElastic open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Elastic", "it was closed before this call");
    }
    return handle;
  }

  /** As {@link Job#leave}, also before training begins, as of a spare that waits. Afterwards it does nothing. */
  public void leave() {
    try {
      if (!handle.isClosed()) {
        handle.leave();
      }
    } catch (TandemClosedException meanwhile) {
      // Then there is nothing to leave.
    }
  }

  /**
   * Ends what waits for other ranks, in {@link #run} and in the group, with {@link org.tandem.TandemAbortedException}. After
   * {@link #close} it does nothing.
   */
  public void abort() {
    try {
      if (!handle.isClosed()) {
        handle.abort();
      }
    } catch (TandemClosedException meanwhile) {
      // Then nothing waits.
    }
  }

  /**
   * To the others a loss where {@link #run} came to no end; where that still runs, it ends as after {@link #abort}. A second
   * call does nothing.
   */
  @Override
  public void close() {
    if (runs) {
      abort();
    }
    handle.close();
  }
}
