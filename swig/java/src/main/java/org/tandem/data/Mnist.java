package org.tandem.data;

import java.nio.file.Path;
import java.util.List;
import org.tandem.DType;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.TandemNative;

/** MNIST's files. */
public final class Mnist {
  public static final int SIDE = 28;

  private static final double MEAN = 0.1307;
  private static final double STD = 0.3081;

  private Mnist() {}

  /**
   * Converts IDX files, plain or .gz, to RecordIO: a record is the label's byte, then the pixels' bytes.
   *
   * @param count samples from {@code begin} on; -1: all
   * @return how many were written
   * @throws org.tandem.TandemDataLossException a file is no IDX file, or of another size than it says
   */
  public static long toRecordIO(Path images, Path labels, Path output, long begin, long count) {
    NativeLibrary.load();
    return TandemNative.mnistToRecordio(images.toString(), labels.toString(), output.toString(), begin, count);
  }

  /** Label [N] of int64, and image [N, 1, 28, 28] of float32, normalised. */
  public static List<Field> fields() {
    return List.of(Field.of("label", DType.UINT8, DType.INT64),
        Field.normalized("image", DType.UINT8, 1.0 / 255, MEAN, STD, 1, SIDE, SIDE));
  }
}
