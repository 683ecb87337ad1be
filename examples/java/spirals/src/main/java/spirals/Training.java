package spirals;

import java.nio.file.Path;
import java.util.Map;
import org.tandem.PtFile;
import org.tandem.Scope;
import org.tandem.StateDict;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Functional;
import org.tandem.nn.Utils;
import org.tandem.optim.AdamW;
import org.tandem.optim.ExponentialLR;
import org.tandem.optim.LRScheduler;

/** A model, and what training it needs to go on: optimizer, schedule, epoch. */
final class Training implements AutoCloseable {
  private static final int REPORT_EPOCHS = 10;
  private static final double MOST_NORM = 1;

  private final Net net = new Net();
  private final AdamW optimizer = new AdamW(net.parameters(), 0.01);
  private final LRScheduler schedule = new ExponentialLR(optimizer, 0.99);
  private final Spirals data = Spirals.make();
  private long epoch;

  long epoch() {
    return epoch;
  }

  void train(int epochs) {
    for (int i = 0; i < epochs; i++) {
      try (Scope scope = Scope.open()) {
        net.train();
        Tensor loss = Functional.crossEntropy(net.forward(data.points()), data.arms());
        optimizer.zeroGrad();
        loss.backward();
        Utils.clipGradNorm(net.parameters(), MOST_NORM);
        optimizer.step();
        schedule.step();
        epoch++;
        if (epoch % REPORT_EPOCHS == 0 || i == epochs - 1) {
          System.out.printf("epoch %d: loss %.6f, accuracy %.2f %%, lr %.6f%n", epoch, loss.item(), 100 * accuracy(),
              schedule.lastLR()[0]);
        }
      }
    }
  }

  private double accuracy() {
    net.eval();
    return Tandem.noGrad(() -> net.forward(data.points()).argmax(1).eq(data.arms()).sum().item()) / data.arms().numel();
  }

  /** What Python's torch.load(path, weights_only=True) gives back as a dict. */
  void save(Path path) {
    try (Scope scope = Scope.open()) {
      PtFile.save(path, Map.of("model", net.stateDict(), "optimizer", optimizer.stateDict(), "schedule",
          schedule.stateDict(), "epoch", epoch));
    }
  }

  /** All of it, or an exception that says what does not fit. */
  void load(Path path) {
    try (Scope scope = Scope.open()) {
      if (!(PtFile.load(path) instanceof Map<?, ?> file) || !(file.get("epoch") instanceof Long after)) {
        throw new TandemInvalidArgumentException("spirals", path + " is no dict with an 'epoch', as this program saves");
      }
      net.loadStateDict(StateDict.of(file.get("model")));
      optimizer.loadStateDict(file.get("optimizer"));
      schedule.loadStateDict(file.get("schedule"));
      epoch = after;
    }
  }

  @Override
  public void close() {
    data.points().close();
    data.arms().close();
    schedule.close();
    optimizer.close();
    net.close();
  }
}
