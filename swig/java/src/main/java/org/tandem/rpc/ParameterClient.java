package org.tandem.rpc;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeEmbeddingTables;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeParameterClient;
import org.tandem.internal.NativeParameterClientOptions;
import org.tandem.internal.Natives;

/**
 * A trainer's view of the workers that have a {@link ParameterServer}: one a process at a time. All trainers give the same
 * options and declare the same tables. Not for several threads at once. Must be closed:
 *
 * <pre>{@code
 * try (ParameterClient client = new ParameterClient(new ParameterClient.Options().servers("server0", "server1").trainers(2)
 *          .table("users", new EmbeddingTable(1_000_000, 64).optimizer("Adagrad", new Options().set("lr", 0.05))))) {
 *   for (Batch batch : batches) {
 *     Tensor x = client.embedding("users", batch.ids()); // [*, 64], with history
 *     lossOf(ddp.forward(x), batch).backward();
 *     optimizer.step();
 *     client.step(); // the rows' gradients go to the servers
 *   }
 *   client.leave();
 * }
 * }</pre>
 *
 * <p>Its methods throw {@link org.tandem.TandemTimeoutException} that names the trainers, or the server, that they waited for;
 * {@link org.tandem.TandemPeerLostException} that names a worker that is gone; {@link org.tandem.TandemAbortedException} after
 * a trainer gave up; and what {@link Rpc#call} throws. What a step or the fetching of rows failed of, unless it was a timeout,
 * every later call fails of, too. {@link org.tandem.dist.CheckpointFolder} saves and loads what the servers have.
 */
public final class ParameterClient implements AutoCloseable {
  private static final int FAIL = 0;
  private static final int LEAVE = 1;

  static {
    Natives.provideParameterClients(ParameterClient::nativeHandle);
  }

  /** How a trainer joins. */
  public static final class Options {
    private List<String> servers = List.of();
    private int trainers = 1;
    private final Map<String, EmbeddingTable> tables = new LinkedHashMap<>();
    private Map<String, Tensor> dense = Map.of();
    private String denseOptimizer = "SGD";
    private org.tandem.Options denseOptions = new org.tandem.Options();
    private boolean synchronous = true;
    private int staleness;
    private Duration timeout = Duration.ofMinutes(5);
    private boolean goOnWithoutLost;

    /** Workers that have a {@link ParameterServer}, in the same order on all trainers. */
    public Options servers(String... names) {
      servers = List.of(names);
      return this;
    }

    /** That have to join before the first step; more may join later. */
    public Options trainers(int value) {
      trainers = value;
      return this;
    }

    /** One more table. Names are 1 to 255 bytes, without '/'. */
    public Options table(String name, EmbeddingTable table) {
      tables.put(name, table);
      return this;
    }

    /**
     * This trainer's own tensors that are to have the servers' values, with their gradients; each lies whole on one server.
     * {@code optimizer} is any of torch.optim but LBFGS, with options by LibTorch's names.
     */
    public Options dense(Map<String, Tensor> parameters, String optimizer, org.tandem.Options options) {
      dense = new LinkedHashMap<>(parameters);
      denseOptimizer = optimizer;
      denseOptions = options;
      return this;
    }

    /**
     * The gradients that all trainers pushed in a step are averaged, and make one update; false: each push makes one at once,
     * unscaled.
     */
    public Options synchronous(boolean value) {
      synchronous = value;
      return this;
    }

    /** Not synchronous: how many steps a trainer may be ahead of the slowest one before it waits. */
    public Options staleness(int value) {
      staleness = value;
      return this;
    }

    /** Of each call and each wait. */
    public Options timeout(Duration value) {
      timeout = value;
      return this;
    }

    /**
     * Where a trainer dies, or closes its client without {@link #leave}, the others go on without it; false: all of them get a
     * {@link org.tandem.TandemPeerLostException} that names it, and the job goes on from a checkpoint.
     */
    public Options goOnWithoutLost(boolean value) {
      goOnWithoutLost = value;
      return this;
    }
  }

  private final NativeParameterClient handle;

  /**
   * Joins as a trainer. Blocks until {@link Options#trainers} have joined; who comes later, until the present step is over. Then
   * the dense parameters have the servers' values, which are those of the trainer that joined first.
   *
   * @throws org.tandem.TandemInvalidArgumentException for what makes no sense, or differs from what other trainers gave, naming
   *     table and trainers
   * @throws org.tandem.TandemOutOfMemoryException tables are larger than a server takes
   * @throws org.tandem.TandemUnsupportedException an optimizer that does not suit
   */
  public ParameterClient(Options options) {
    NativeLibrary.load();
    try (NativeParameterClientOptions natives = new NativeParameterClientOptions();
        NativeOptions dense = Natives.of(options.denseOptions);
        NativeEmbeddingTables tables = new NativeEmbeddingTables()) {
      natives.setTrainers(options.trainers);
      natives.setStaleness(options.staleness);
      natives.setTimeoutMs(options.timeout.toMillis());
      natives.setSynchronous(options.synchronous);
      natives.setLostTrainers(options.goOnWithoutLost ? LEAVE : FAIL);
      natives.setDenseOptimizer(options.denseOptimizer);
      options.tables.forEach((name, table) -> table.addTo(tables, name));
      handle = new NativeParameterClient(options.servers.toArray(String[]::new), natives,
          options.dense.keySet().toArray(String[]::new), Natives.of(options.dense.values()), dense, tables);
    }
  }

  private NativeParameterClient nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("ParameterClient", "the client was closed before this use");
    }
    return handle;
  }

  /**
   * The rows of {@code indices}, INT64 of any shape: [*indices, width] on the CPU. Each row is fetched once. With gradients
   * enabled the result has history, and the next {@link #step} pushes the rows' gradients.
   *
   * @throws org.tandem.TandemNotFoundException no such table
   * @throws org.tandem.TandemOutOfRangeException no such row; names the table and the index
   */
  public Tensor embedding(String table, Tensor indices) {
    return Natives.tensor(nativeHandle().embedding(table, Natives.of(indices)));
  }

  /**
   * Pushes the gradients of the dense parameters, and those of the rows that were fetched since the last step; waits as the mode
   * has it; then the dense parameters have the servers' new values, and gradients are dropped. A parameter without a gradient
   * counts as zeros where another trainer has one. After a {@link org.tandem.TandemTimeoutException} it may be called again: it
   * pushes nothing, and waits on.
   */
  public void step() {
    nativeHandle().step();
  }

  /** The number of this trainer's next step, from 0; who joined late counts on from where the others were. */
  public long steps() { return nativeHandle().steps(); }

  /**
   * Changes settings of the optimizer of a table or, for "", of the dense parameters, on all servers, for schedules of learning
   * rates. One trainer calls it, between its steps.
   *
   * @throws org.tandem.TandemNotFoundException no such table or setting
   */
  public void setOptions(String table, org.tandem.Options options) {
    try (NativeOptions natives = Natives.of(options)) {
      nativeHandle().setOptions(table, natives);
    }
  }

  /** After the last step: the others go on without this trainer. A second call does nothing. */
  public void leave() {
    nativeHandle().leave();
  }

  /** The other trainers hear that this one gave up, unless it has left. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
