package org.tandem.data;

import java.nio.file.Path;
import java.util.List;
import org.tandem.DType;
import org.tandem.TandemOutOfRangeException;
import org.tandem.Tensor;

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
   * @throws TandemOutOfRangeException there are no such samples
   */
  public static long toRecordIO(Path images, Path labels, Path output, long begin, long count) {
    Field record = Field.of("record", DType.UINT8, DType.UINT8, 1 + SIDE * SIDE);
    String[] files = {images.toString(), labels.toString()};
    try (Dataset digits = Dataset.ofRecords(files, List.of(record), new FileOptions().format("mnist"));
         RecordIOWriter writer = new RecordIOWriter(output)) {
      long size = digits.size();
      if (begin < 0 || count < -1 || begin > size || count > size - begin) {
        throw new TandemOutOfRangeException(
            "Mnist.toRecordIO", count + " samples from " + begin + " on are not within the " + size + " of " + images);
      }
      long end = count == -1 ? size : begin + count;
      for (long i = begin; i < end; i++) {
        try (Tensor sample = digits.get(i)[0]) {
          writer.write(sample.toByteArray());
        }
      }
      writer.finish();
      return end - begin;
    }
  }

  /** Label [N] of int64, and image [N, 1, 28, 28] of float32, normalised. */
  public static List<Field> fields() {
    return List.of(Field.of("label", DType.UINT8, DType.INT64),
        Field.normalized("image", DType.UINT8, 1.0 / 255, MEAN, STD, 1, SIDE, SIDE));
  }
}
