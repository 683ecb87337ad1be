package pipeline;

import java.util.Map;
import org.tandem.Tandem;
import org.tandem.Tensor;
import org.tandem.dist.PipelineStage;
import org.tandem.nn.Embedding;
import org.tandem.nn.Functional;
import org.tandem.nn.LayerNorm;
import org.tandem.nn.Module;
import org.tandem.nn.ModuleList;
import org.tandem.nn.TransformerEncoderLayer;

/**
 * Some blocks of a small transformer that tells the next byte of a text. The first stage begins with embeddings of bytes and
 * positions; the last one ends with a score for each byte, by the same weight as the embedding's.
 */
final class Stage extends Module {
  /** What a model is made of. */
  record Shape(int layers, int heads, int width, int length) {}

  private static final int VALUES = 256; // of a byte
  private static final double SMALL = 0.02;

  private final int index;
  private final int count;
  private Embedding embed; // of the first stage and of the last
  private Embedding positions; // of the first
  private LayerNorm norm; // of the last
  private final ModuleList<TransformerEncoderLayer> blocks = register("blocks", new ModuleList<>());
  private final Tensor mask; // [length, length]: no position sees those after it

  /**
   * Stage {@code index} of {@code count}. Each part draws its weights by a seed of its own, so that the whole model begins the
   * same however it is cut.
   */
  Stage(int index, int count, Shape shape, long seed) {
    this.index = index;
    this.count = count;
    Tandem.manualSeed(seed);
    if (isFirst() || isLast()) {
      embed = register("embed", small(new Embedding(VALUES, shape.width)));
    }
    if (isFirst()) {
      positions = register("positions", small(new Embedding(shape.length, shape.width)));
    }
    for (int block = index * shape.layers / count; block < (index + 1) * shape.layers / count; block++) {
      Tandem.manualSeed(seed + 1 + block);
      blocks.append(new TransformerEncoderLayer(shape.width, shape.heads, new TransformerEncoderLayer.Options()
          .dimFeedforward(4L * shape.width).dropout(0).activation("gelu").batchFirst(true).normFirst(true)));
    }
    if (isLast()) {
      norm = register("norm", new LayerNorm(new long[] {shape.width}));
    }
    mask = causal(shape.length);
  }

  boolean isFirst() {
    return index == 0;
  }

  boolean isLast() {
    return index == count - 1;
  }

  private static Embedding small(Embedding made) {
    try (Tandem.NoGrad off = Tandem.noGrad()) {
      made.getParameter("weight").mulInPlace(SMALL);
    }
    return made;
  }

  private static Tensor causal(int length) {
    boolean[] later = new boolean[length * length];
    for (int i = 0; i < later.length; i++) {
      later[i] = i % length > i / length;
    }
    return Tensor.of(later, length, length);
  }

  /**
   * Maps bytes [rows, length] on the first stage, else what the stage before gives, [rows, length, width]; the last stage gives
   * scores [rows, length, 256].
   */
  @Override
  public Tensor forward(Tensor input) {
    Tensor x = input;
    if (isFirst()) {
      x = embed.call(x).add(positions.call(Tensor.arange(0, x.size(1))));
    }
    for (TransformerEncoderLayer block : blocks) {
      x = block.forwardAll(x, mask, null, true)[0];
    }
    return isLast() ? Functional.linear(norm.call(x), embed.getParameter("weight"), null) : x;
  }

  /** The stage by its number, under the whole model's names, with what it shares with another stage. */
  PipelineStage piece() {
    String prefix = "stage" + index + ".";
    PipelineStage piece = new PipelineStage(index, this).prefix(prefix);
    return embed != null && count > 1 ? piece.tied(Map.of(prefix + "embed.weight", "embed.weight")) : piece;
  }

  /** Of one micro-batch. */
  static Tensor loss(Tensor[] outputs, Tensor[] targets) {
    return Functional.crossEntropy(outputs[0].reshape(-1, VALUES), targets[0].reshape(-1));
  }

  @Override
  public void close() {
    super.close();
    mask.close();
  }
}
