package org.tandem.nn;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tandem.Tensor;
import org.tandem.internal.NativeModule;

/** A module that Python wrote: it has the mode that it was saved in, and parameters may be one under several names. */
abstract class LoadedModule extends TorchModule {
  LoadedModule(String type, NativeModule handle) {
    super(type, handle, handle.isTraining());
  }

  @Override
  Map<String, Tensor> tied(Map<String, Tensor> parameters) {
    List<Tensor> known = new ArrayList<>();
    parameters.replaceAll((name, tensor) -> {
      for (Tensor other : known) {
        if (other.isSame(tensor)) {
          tensor.close();
          return other;
        }
      }
      known.add(tensor);
      return tensor;
    });
    return parameters;
  }
}
