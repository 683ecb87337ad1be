package org.tandem.nn;

import org.tandem.Device;
import org.tandem.Options;
import org.tandem.TandemClosedException;
import org.tandem.Tensor;
import org.tandem.internal.NativeDevice;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeModule;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.NativeOptions;
import org.tandem.internal.NativeTensor;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;
import org.tandem.internal.TandemNative;

/** A torch::nn module by its name, with LibTorch's own parameters. The common ones have classes of their own. */
public class TorchModule extends Module {
  private final NativeModule handle;

  /**
   * @param type "Linear", "Conv2d", …: see {@link #types()}
   * @throws org.tandem.TandemNotFoundException there is no such type or option
   */
  public TorchModule(String type, Options options) {
    NativeLibrary.load();
    try (NativeOptions natives = Natives.of(options)) {
      handle = new NativeModule(type, natives);
    }
    ScopeFrame.outside(() -> {
      try (NativeNamedTensors parameters = handle.namedParameters();
          NativeNamedTensors buffers = handle.namedBuffers()) {
        addAll(parameters, true);
        addAll(buffers, false);
      }
      return null;
    });
  }

  private void addAll(NativeNamedTensors list, boolean parameters) {
    String[] names = list.names();
    NativeTensor[] tensors = list.tensors();
    for (int i = 0; i < names.length; i++) {
      if (parameters) {
        registerParameter(names[i], Natives.tensor(tensors[i]));
      } else {
        registerBuffer(names[i], Natives.tensor(tensors[i]));
      }
    }
  }

  /** Names of all types, sorted as the library has them. */
  public static String[] types() {
    NativeLibrary.load();
    return TandemNative.moduleTypes().split("\n");
  }

  private NativeModule open() {
    if (handle.isClosed()) {
      throw new TandemClosedException(getClass().getSimpleName(), "the module was closed before this call");
    }
    return handle;
  }

  @Override
  public Tensor forward(Tensor input) {
    return Natives.tensor(open().forwardTensor(Natives.of(input)));
  }

  @Override
  public Module train(boolean on) {
    open().train(on);
    return super.train(on);
  }

  @Override
  public Module to(Device device) {
    try (NativeDevice target = new NativeDevice(device.type().number(), device.index())) {
      open().to(target, -1);
    }
    return this;
  }

  @Override
  public void close() {
    super.close();
    handle.close();
  }
}
