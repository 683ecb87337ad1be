package org.tandem.data;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.tandem.ErrorCode;
import org.tandem.Scope;
import org.tandem.TandemClosedException;
import org.tandem.TandemException;
import org.tandem.Tensor;
import org.tandem.internal.NativeDataset;
import org.tandem.internal.NativeFileOptions;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeSchemaOptions;
import org.tandem.internal.Natives;
import org.tandem.internal.OwnData;

/**
 * Samples by number, each a list of tensors with a name each. May be used from several threads. What is made of it, a
 * loader or another data set, keeps what it needs: it may be closed right after, and need not be, as the collector frees
 * it too.
 *
 * <p>Where a function takes names and none are given, they are "0", "1" and so on.
 */
public final class Dataset implements AutoCloseable {
  static {
    Natives.provideDatasets(Dataset::nativeHandle);
  }

  private final NativeDataset handle;
  private final boolean iterable;
  private final List<String> names;

  private Dataset(NativeDataset handle, boolean iterable) {
    this.handle = handle;
    this.iterable = iterable;
    this.names = List.of(handle.fieldNames());
  }

  private Dataset(NativeDataset handle) {
    this(handle, false);
  }

  /** The open handle. */
  NativeDataset nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Dataset", "the data set was closed before this call");
    }
    return handle;
  }

  /** Whether its samples come one after the other. */
  boolean isIterable() {
    return iterable;
  }

  private static String[] texts(List<Path> paths) {
    return paths.stream().map(Path::toString).toArray(String[]::new);
  }

  /** Records of files of any format, of that layout. */
  public static Dataset ofRecords(List<Path> paths, List<Field> fields) {
    return ofRecords(texts(paths), fields, new FileOptions());
  }

  /**
   * Paths of this host, patterns and lists, and URLs on http://, https:// and s3://.
   *
   * @throws org.tandem.TandemNotFoundException there is no such file
   * @throws org.tandem.TandemDataLossException a file is not what its format says
   */
  public static Dataset ofRecords(String[] paths, List<Field> fields, FileOptions options) {
    NativeLibrary.load();
    try (var layout = Field.layout(fields); NativeFileOptions files = options.toNative()) {
      return new Dataset(NativeDataset.fromRecords(paths, layout, files));
    }
  }

  /** Records of files of any format that a schema describes, decoded by a loader's threads. */
  public static Dataset ofSchema(List<Path> paths, SchemaOptions options) {
    return ofSchema(texts(paths), options, new FileOptions());
  }

  /** As {@link #ofRecords(String[], List, FileOptions)} and {@link #ofSchema(List, SchemaOptions)}. */
  public static Dataset ofSchema(String[] paths, SchemaOptions options, FileOptions fileOptions) {
    NativeLibrary.load();
    try (NativeSchemaOptions schema = options.toNative(); NativeFileOptions files = fileOptions.toNative()) {
      return new Dataset(NativeDataset.fromSchema(paths, schema, files));
    }
  }

  /**
   * Sample i is row i of each tensor: dense ones on the CPU, of equally many rows, as they are now. Source:
   * torch.utils.data.TensorDataset.
   */
  public static Dataset ofTensors(List<Tensor> tensors, String... names) {
    NativeLibrary.load();
    String[] chosen = names.length == 0 ? numbered(tensors.size()) : names;
    return new Dataset(NativeDataset.fromTensors(Natives.of(tensors), chosen));
  }

  /**
   * The program's own samples, with the names of a sample's tensors; without any, sample 0 is asked for to count them.
   * Source: torch.utils.data.Dataset.
   */
  public static Dataset of(Samples samples, String... names) {
    NativeLibrary.load();
    return new Dataset(OwnData.of(samples, names.length == 0 ? numbered(fields(samples)) : names));
  }

  private static int fields(Samples samples) {
    if (samples.size() == 0) {
      return 1;
    }
    try (Scope scope = Scope.open()) {
      return samples.get(0).length;
    } catch (Exception failed) {
      TandemException error =
          new TandemException(ErrorCode.CALLBACK, "Dataset.of", "sample 0, whose tensors are counted: " + failed);
      error.initCause(failed);
      throw error;
    }
  }

  /**
   * The program's own samples that come one after the other, with the names of a sample's tensors. A loader alone takes
   * it. Source: torch.utils.data.IterableDataset.
   */
  public static Dataset of(IterableSamples samples, String... names) {
    NativeLibrary.load();
    return new Dataset(OwnData.of(samples, names), true);
  }

  /** One after the other; their tensors have the same names. Source: torch.utils.data.ConcatDataset. */
  public static Dataset concat(Dataset... parts) {
    NativeLibrary.load();
    NativeDataset[] handles = Arrays.stream(parts).map(Dataset::nativeHandle).toArray(NativeDataset[]::new);
    return new Dataset(NativeDataset.concat(handles));
  }

  private static String[] numbered(int count) {
    return IntStream.range(0, count).mapToObj(Integer::toString).toArray(String[]::new);
  }

  /** -1: unknown, of samples that come one after the other. */
  public long size() {
    return nativeHandle().size();
  }

  /** Of a sample's tensors. */
  public List<String> fieldNames() {
    return names;
  }

  /**
   * Sample {@code index}.
   *
   * @throws org.tandem.TandemOutOfRangeException there is none
   */
  public Tensor[] get(long index) {
    return Natives.tensors(nativeHandle().get(index));
  }

  /** These samples of it, in this order; one may come several times. Source: torch.utils.data.Subset. */
  public Dataset subset(long... samples) {
    return new Dataset(nativeHandle().subset(samples));
  }

  /**
   * Parts of these sizes, which are {@link #size} together: each sample is in one of them, drawn by the seed. Source:
   * torch.utils.data.random_split, whose random numbers are others.
   */
  public List<Dataset> randomSplit(long[] sizes, long seed) {
    return Arrays.stream(nativeHandle().randomSplit(sizes, seed)).map(Dataset::new).toList();
  }

  /**
   * By fractions of all samples, which are 1 together: sizes are rounded down, and what that leaves goes to the parts
   * from the first on, one each.
   */
  public List<Dataset> randomSplit(double[] fractions, long seed) {
    return randomSplit(nativeHandle().splitSizes(fractions), seed);
  }

  /**
   * Each sample as {@code map} makes it whenever it is loaded, a tensor for each of {@code fieldNames}; without any,
   * those of this data set. A loader's state goes on with another map, too.
   */
  public Dataset map(SampleMap map, String... fieldNames) {
    String[] chosen = fieldNames.length == 0 ? names.toArray(String[]::new) : fieldNames;
    return new Dataset(OwnData.map(nativeHandle(), map, chosen));
  }

  /** Frees it before the collector does. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
