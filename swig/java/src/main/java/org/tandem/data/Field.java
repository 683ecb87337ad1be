package org.tandem.data;

import java.util.List;
import org.tandem.DType;
import org.tandem.internal.NativeFields;

/**
 * One field of a record of fixed layout; fields follow one another without gaps.
 *
 * @param dtype in the record
 * @param sizes of one sample; none: a scalar
 * @param outDtype of the batch: dtype itself, FLOAT32 as (x · scale − mean) / std, or INT64
 */
public record Field(String name, DType dtype, long[] sizes, DType outDtype, double mean, double std, double scale) {
  /** Unchanged, or converted to INT64. */
  public static Field of(String name, DType dtype, DType outDtype, long... sizes) {
    return new Field(name, dtype, sizes, outDtype, 0, 1, 1);
  }

  /** Normalised to FLOAT32. */
  public static Field normalized(
      String name, DType dtype, double scale, double mean, double std, long... sizes) {
    return new Field(name, dtype, sizes, DType.FLOAT32, mean, std, scale);
  }

  static NativeFields layout(List<Field> fields) {
    NativeFields layout = new NativeFields();
    for (Field field : fields) {
      layout.add(field.name(), field.dtype().number(), field.sizes(), field.outDtype().number(), field.mean(),
          field.std(), field.scale());
    }
    return layout;
  }
}
