package modelparallel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.tandem.TandemNotFoundException;
import org.tandem.data.Loader;
import org.tandem.data.Mnist;
import org.tandem.dist.ProcessGroup;

/** MNIST's digits as RecordIO files, which rank 0 makes of its four IDX files. */
record Digits(Path train, Path test) {
  static Digits prepare(Path data, Path cache, ProcessGroup group) throws IOException {
    Digits made = new Digits(cache.resolve("train.recordio"), cache.resolve("test.recordio"));
    if (group.rank() == 0) {
      Files.createDirectories(cache);
      convert(data, "train", made.train);
      convert(data, "t10k", made.test);
    }
    group.barrier();
    return made;
  }

  private static void convert(Path data, String part, Path to) throws IOException {
    Mnist.toRecordIO(find(data, part + "-images-idx3-ubyte"), find(data, part + "-labels-idx1-ubyte"), to, 0, -1);
  }

  private static Path find(Path folder, String name) {
    for (String suffix : List.of("", ".gz")) {
      Path path = folder.resolve(name + suffix);
      if (Files.exists(path)) {
        return path;
      }
    }
    throw new TandemNotFoundException("modelparallel",
        folder + " has no " + name + ", plain or .gz; give MNIST's folder with --data, or draw one: draw-digits FOLDER");
  }

  /** Of all test digits, in order. */
  Loader tests() {
    return new Loader(List.of(test), Mnist.fields(), new Loader.Options().batchSize(250).shuffle(false));
  }
}
