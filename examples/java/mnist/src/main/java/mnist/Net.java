package mnist;

import org.tandem.Tensor;
import org.tandem.nn.Conv2d;
import org.tandem.nn.Dropout;
import org.tandem.nn.Functional;
import org.tandem.nn.Linear;
import org.tandem.nn.Module;

/** Two convolutions and two linear layers: [N, 1, 28, 28] to [N, 10]. */
final class Net extends Module {
  private static final double DROPOUT = 0.25;
  private static final int POOLED_SIDE = 12;
  private static final int CHANNELS = 64;

  private final Conv2d conv1 = register("conv1", new Conv2d(1, 32, 3));
  private final Conv2d conv2 = register("conv2", new Conv2d(32, CHANNELS, 3));
  private final Dropout dropout = register("dropout", new Dropout(DROPOUT));
  private final Linear hidden = register("fc1", new Linear(CHANNELS * POOLED_SIDE * POOLED_SIDE, 128));
  private final Linear output = register("fc2", new Linear(128, 10));

  @Override
  public Tensor forward(Tensor images) {
    Tensor features = conv2.forward(conv1.forward(images).relu()).relu();
    Tensor pooled = dropout.forward(Functional.maxPool2d(features, 2).flatten(1));
    return output.forward(hidden.forward(pooled).relu());
  }
}
