package modelparallel;

import org.tandem.Device;
import org.tandem.Tensor;
import org.tandem.nn.Conv2d;
import org.tandem.nn.Flatten;
import org.tandem.nn.Linear;
import org.tandem.nn.MaxPool2d;
import org.tandem.nn.Module;
import org.tandem.nn.ReLU;
import org.tandem.nn.Sequential;

/** A network for digits that is cut in two: the convolutions on one device, the linear layers on another. */
final class Net extends Module {
  private static final int FEATURES = 32 * 5 * 5;

  private final Sequential front = register("front", new Sequential(new Conv2d(1, 16, 3), new ReLU(), new MaxPool2d(2),
      new Conv2d(16, 32, 3), new ReLU(), new MaxPool2d(2)));
  private final Sequential back =
      register("back", new Sequential(new Flatten(), new Linear(FEATURES, 128), new ReLU(), new Linear(128, 10)));
  private final Device frontDevice;
  private final Device backDevice;

  Net(Device frontDevice, Device backDevice) {
    this.frontDevice = frontDevice;
    this.backDevice = backDevice;
    front.to(frontDevice);
    back.to(backDevice);
  }

  /**
   * Maps images [N, 1, 28, 28], on any device, to scores [N, 10] on the second. Backward takes the same way, so that each
   * layer's gradient is on the layer's device.
   */
  @Override
  public Tensor forward(Tensor images) {
    return back.forward(front.forward(images.to(frontDevice)).to(backDevice));
  }
}
