package org.tandem.rpc;

import java.time.Duration;
import java.util.List;
import org.tandem.TandemClosedException;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeParameterServer;

/**
 * Makes this process one whose tables trainers read, and to which they push gradients: one a process. It is made before {@link
 * Rpc#init}, so that no trainer comes too early, and must be closed:
 *
 * <pre>{@code
 * try (ParameterServer server = new ParameterServer()) {
 *   Rpc.init(new Rpc.Options().name("server0"));
 *   while (!server.await(Duration.ofMinutes(1))) {
 *     System.out.println(server.statistics());
 *   }
 *   Rpc.shutdown();
 * }
 * }</pre>
 *
 * Several threads may use it. docs/parameter-server.md has more. Sources: Li et al. 2014 (Scaling Distributed Machine Learning
 * with the Parameter Server); Ho et al. 2013 (stale synchronous parallel).
 */
public final class ParameterServer implements AutoCloseable {
  /** After which a wait sees that the server was closed, or that the program ends. */
  private static final long SLICE_MS = 500;

  private final NativeParameterServer handle;

  /** Of at most three quarters of this machine's memory. */
  public ParameterServer() {
    this(0);
  }

  /**
   * @param mostBytes of all tables, without what optimizers remember; a trainer that declares more gets an exception. 0: three
   *     quarters of this machine's memory
   * @throws org.tandem.TandemInvalidArgumentException the process has one
   */
  public ParameterServer(long mostBytes) {
    NativeLibrary.load();
    handle = new NativeParameterServer(mostBytes);
  }

  private NativeParameterServer nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("ParameterServer", "the server was closed before this use");
    }
    return handle;
  }

  /**
   * Returns when all trainers have joined and none is left, or after {@code timeout}: then with false.
   *
   * @throws org.tandem.TandemException once none is left: why the training failed, such as a {@link
   *     org.tandem.TandemPeerLostException} that names a trainer that died
   */
  public boolean await(Duration timeout) {
    long begun = System.nanoTime();
    while (true) {
      long left = timeout.minusNanos(System.nanoTime() - begun).toMillis();
      if (nativeHandle().await(Math.max(0, Math.min(left, SLICE_MS)))) {
        return true;
      }
      if (left <= SLICE_MS) {
        return false;
      }
    }
  }

  /**
   * What the server did.
   *
   * @param updates synchronous: of all tables at a time; else one a push
   * @param pushes that trainers made, one a step
   * @param waits pushes after which the trainer had to wait for others
   * @param rowsRead of embedding tables
   * @param mostAhead steps that a trainer was ahead of the slowest when it pushed
   * @param bytes of all tables
   */
  public record Statistics(
      long updates, long pushes, long waits, long rowsRead, long rowsPushed, long mostAhead, long bytes) {}

  public Statistics statistics() {
    long[] counted = nativeHandle().statistics();
    return new Statistics(counted[0], counted[1], counted[2], counted[3], counted[4], counted[5], counted[6]);
  }

  /** The workers that train now. */
  public List<String> trainers() { return List.of(nativeHandle().trainers()); }

  /** Tables of which this server has a part, and the dense parameters that it has. */
  public List<String> tables() { return List.of(nativeHandle().tables()); }

  /** Drops the tables: calls of trainers that are left fail. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
