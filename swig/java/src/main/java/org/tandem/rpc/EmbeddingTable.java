package org.tandem.rpc;

import org.tandem.DType;
import org.tandem.Options;
import org.tandem.Tensor;
import org.tandem.internal.NativeEmbeddingTable;
import org.tandem.internal.NativeEmbeddingTables;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.Natives;

/** A table of vectors, spread over servers by rows, as a {@link ParameterClient} declares it. Source: torch.nn.Embedding. */
public final class EmbeddingTable {
  private static final int BY_MODULO = 0;
  private static final int BY_RANGE = 1;

  private final long rows;
  private final long width;
  private DType dtype = DType.FLOAT32;
  private String optimizer = "SGD";
  private Options optimizerOptions = new Options();
  private boolean byRange;
  private Tensor initial;
  private double standardDeviation = 1;
  private long seed;

  public EmbeddingTable(long rows, long width) {
    this.rows = rows;
    this.width = width;
  }

  /** FLOAT32 or FLOAT64. */
  public EmbeddingTable dtype(DType value) {
    dtype = value;
    return this;
  }

  /**
   * Of torch.optim one that takes sparse gradients: "SGD" without momentum and weight decay, "Adagrad", "SparseAdam"; with
   * options by LibTorch's names ("lr").
   */
  public EmbeddingTable optimizer(String type, Options options) {
    optimizer = type;
    optimizerOptions = options;
    return this;
  }

  /**
   * Each server has rows that follow each other. Else a row is on the server of its number modulo that of the servers, so that
   * neighbours, which are often asked for together, are on all of them.
   */
  public EmbeddingTable byRange(boolean value) {
    byRange = value;
    return this;
  }

  /** What rows begin as, [rows, width]; that of the trainer that joins first counts. Unset: they are drawn. */
  public EmbeddingTable initial(Tensor value) {
    initial = value;
    return this;
  }

  /** Of the normal distribution around 0 from which servers draw the rows. */
  public EmbeddingTable standardDeviation(double value) {
    standardDeviation = value;
    return this;
  }

  /** Rows that are drawn are the same for a seed, however many servers there are. */
  public EmbeddingTable seed(long value) {
    seed = value;
    return this;
  }

  void addTo(NativeEmbeddingTables tables, String name) {
    try (NativeEmbeddingTable table = new NativeEmbeddingTable(); NativeOptions options = Natives.of(optimizerOptions)) {
      table.setRows(rows);
      table.setWidth(width);
      table.setDtype(dtype.number());
      table.setOptimizer(optimizer);
      table.setPlacement(byRange ? BY_RANGE : BY_MODULO);
      table.setStandardDeviation(standardDeviation);
      table.setSeed(seed);
      tables.add(name, table, options, initial == null ? null : Natives.of(initial));
    }
  }
}
