package org.tandem.nn;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.Tandem;
import org.tandem.Tensor;

/** Running statistics of batch normalization. */
public final class BatchNormStatistics {
  private BatchNormStatistics() {}

  /**
   * Computes them anew, of all BatchNorm layers of a model, as the means over the batches that {@code pass} puts
   * through it: for weights that were averaged, whose activations no batch has shown. It is called once, in training
   * mode and without recording gradients, and not at all where there is no such layer; the mode of each module comes
   * back afterwards. Source: torch.optim.swa_utils.update_bn.
   */
  public static void update(Module model, Runnable pass) {
    List<TorchModule> norms = new ArrayList<>();
    Map<Module, Boolean> training = new LinkedHashMap<>();
    model.namedModules().values().forEach(module -> {
      training.put(module, module.isTraining());
      if (module instanceof TorchModule torch && torch.isBatchNorm()) {
        norms.add(torch);
      }
    });
    if (norms.isEmpty()) {
      return;
    }
    Map<TorchModule, Double> momentums = new LinkedHashMap<>();
    try (Tandem.NoGrad off = Tandem.noGrad()) {
      norms.forEach(norm -> {
        beginAnew(norm.namedBuffers());
        momentums.put(norm, norm.setBatchNormMomentum(Double.NaN));
      });
      model.train(true);
      pass.run();
    } finally {
      momentums.forEach(TorchModule::setBatchNormMomentum);
      training.forEach(Module::setTraining);
    }
  }

  private static void beginAnew(Map<String, Tensor> buffers) {
    buffers.forEach((name, buffer) -> {
      try (Tensor start = Tensor.scalar(name.endsWith("running_var") ? 1.0 : 0.0)) {
        buffer.copyInPlace(start);
      }
    });
  }
}
