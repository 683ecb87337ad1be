package mnist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.tandem.DType;
import org.tandem.TandemNotFoundException;
import org.tandem.Tensor;
import org.tandem.data.Mnist;
import org.tandem.data.RecordIOReader;
import org.tandem.dist.ProcessGroup;

/** The digits as RecordIO files: found in the data folder, or made of its IDX files. */
record Digits(Path train, Path test) {
  private static final double MEAN = 0.1307;
  private static final double STD = 0.3081;
  // When the 10,000 test digits are all there is.
  private static final long TRAIN_PART = 9000;

  /** Test digits as the network takes them, [n, 1, 28, 28], with their labels [n]. */
  record Batch(Tensor images, Tensor labels) {}

  /**
   * Finds train.recordio and test.recordio in {@code data}, or has rank 0 convert its IDX files into {@code output}
   * while the others wait; {@code isAgain}: unless it has. Who does not see what it made, on another host, converts them
   * as well.
   */
  static Digits prepare(Path data, Path output, ProcessGroup group, boolean isAgain) throws IOException {
    Digits there = new Digits(data.resolve("train.recordio"), data.resolve("test.recordio"));
    boolean ready = there.exists();
    Path cache = output.resolve("recordio");
    Digits made = new Digits(cache.resolve("train.recordio"), cache.resolve("test.recordio"));
    if (!ready && group.rank() == 0 && !(isAgain && made.exists())) {
      Files.createDirectories(cache);
      made.convert(data);
    }
    group.barrier();
    if (!ready && !made.exists()) { // ranks of one host may do it at once: files appear whole, and are the same
      Files.createDirectories(cache);
      made.convert(data);
    }
    return ready ? there : made;
  }

  private boolean exists() {
    return Files.exists(train) && Files.exists(test);
  }

  private void convert(Path data) throws IOException {
    Path testImages = find(data, "t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte");
    Path testLabels = find(data, "t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte");
    Path trainImages = find(data, "train-images-idx3-ubyte", "train-images.idx3-ubyte");
    Path trainLabels = find(data, "train-labels-idx1-ubyte", "train-labels.idx1-ubyte");
    if (testImages == null || testLabels == null) {
      throw new TandemNotFoundException("mnist", data + " holds neither train.recordio and test.recordio nor "
          + "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte (plain or .gz); give a folder that does with --data");
    }
    if (trainImages != null && trainLabels != null) {
      Mnist.toRecordIO(trainImages, trainLabels, train, 0, -1);
      Mnist.toRecordIO(testImages, testLabels, test, 0, -1);
    } else {
      Mnist.toRecordIO(testImages, testLabels, train, 0, TRAIN_PART);
      Mnist.toRecordIO(testImages, testLabels, test, TRAIN_PART, -1);
    }
  }

  private static Path find(Path folder, String... names) {
    for (String name : names) {
      for (String suffix : List.of("", ".gz")) {
        Path path = folder.resolve(name + suffix);
        if (Files.exists(path)) {
          return path;
        }
      }
    }
    return null;
  }

  /** Records begin, begin + step, … of {@code reader} in batches; each record counts exactly once over all ranks. */
  static List<long[]> slices(RecordIOReader reader, long begin, long step, int batchSize) {
    List<long[]> slices = new ArrayList<>();
    List<Long> numbers = new ArrayList<>();
    for (long i = begin; i < reader.count(); i += step) {
      numbers.add(i);
      if (numbers.size() == batchSize || i + step >= reader.count()) {
        slices.add(numbers.stream().mapToLong(Long::longValue).toArray());
        numbers.clear();
      }
    }
    return slices;
  }

  /** The given records. */
  static Batch read(RecordIOReader reader, long[] numbers) {
    int pixels = Mnist.SIDE * Mnist.SIDE;
    ByteBuffer images = ByteBuffer.allocate(numbers.length * pixels);
    long[] labels = new long[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      byte[] record = reader.get(numbers[i]);
      labels[i] = record[0];
      images.put(record, 1, pixels);
    }
    Tensor bytes = Tensor.of(images.flip(), DType.UINT8, numbers.length, 1, Mnist.SIDE, Mnist.SIDE);
    return new Batch(bytes.to(DType.FLOAT32).div(255).sub(MEAN).div(STD), Tensor.of(labels));
  }
}
