package org.tandem.nn;

import org.tandem.DType;
import org.tandem.Device;
import org.tandem.Operator;
import org.tandem.Scope;
import org.tandem.Tandem;
import org.tandem.Tensor;

/** Gives a tensor other data in place, so that all references to it follow. */
final class MoveTensor {
  private static final Operator SET_DATA = Operator.find("aten::set_data", "");

  private MoveTensor() {}

  /** Device and dtype, which converts floating-point tensors alone; null: as it is. Its gradient goes with it. */
  static void to(Tensor tensor, Device device, DType dtype) {
    try (Tandem.NoGrad off = Tandem.noGrad(); Scope scope = Scope.open()) {
      Tensor grad = tensor.grad();
      tensor.setGrad(null); // other data is refused while it has another type
      SET_DATA.callAll(tensor, converted(tensor.detach(), device, dtype));
      if (grad != null) {
        tensor.setGrad(converted(grad.detach(), device, dtype));
      }
    }
  }

  private static Tensor converted(Tensor tensor, Device device, DType dtype) {
    Tensor moved = device == null ? tensor : tensor.to(device);
    return dtype == null || !tensor.dtype().isFloatingPoint() ? moved : moved.to(dtype);
  }
}
