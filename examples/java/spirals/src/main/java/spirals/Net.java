package spirals;

import org.tandem.Tensor;
import org.tandem.nn.BatchNorm1d;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;
import org.tandem.nn.ModuleList;

/** Layers of one width with shortcuts: [N, 2] to [N, arms]. The names are those of Net in spirals.py. */
final class Net extends Module {
  private static final int WIDTH = 16;
  private static final int BLOCKS = 3;

  private final Linear first = register("first", new Linear(2, WIDTH));
  private final ModuleList<Block> blocks = register("blocks", new ModuleList<>());
  private final Linear last = register("last", new Linear(WIDTH, Spirals.ARMS));

  Net() {
    for (int i = 0; i < BLOCKS; i++) {
      blocks.append(new Block());
    }
  }

  @Override
  public Tensor forward(Tensor points) {
    Tensor x = first.forward(points);
    for (Block block : blocks) {
      x = block.forward(x);
    }
    return last.forward(x);
  }

  /** What it gives is added to what goes in. */
  private static final class Block extends Module {
    private final BatchNorm1d norm = register("norm", new BatchNorm1d(WIDTH));
    private final Linear linear = register("linear", new Linear(WIDTH, WIDTH));

    @Override
    public Tensor forward(Tensor x) {
      return x.add(linear.forward(norm.forward(x)).relu());
    }
  }
}
