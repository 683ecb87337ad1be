package org.tandem;

import java.nio.file.Path;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeResults;
import org.tandem.internal.Values;
import org.tandem.internal.TandemNative;

/**
 * Files of Python's torch.save, such as model.pt: tensors, and plain values. Those are null, Boolean, Long, Double,
 * String, {@link Tensor}, {@link DType}, {@link Device}, {@code List<Object>} for a list or set, {@link Tuple}, and for
 * a dict a {@code Map<Object, Object>} in its order, with keys that are String and Long. Bytes are a tensor of UINT8.
 */
public final class PtFile {
  private PtFile() {}

  /**
   * Tensors, on the CPU wherever they were, refer to the file, mapped: it may not be cut off meanwhile. What is written
   * to them does not change it.
   *
   * @throws TandemNotFoundException there is no such file
   * @throws TandemUnsupportedException it wants a class or function of Python, which is named; nothing of it is run
   * @throws TandemDataLossException it is no such file, or a damaged one
   */
  public static Object load(Path path) { return load(path, false, false); }

  /**
   * @param copy tensors get memory of their own, whatever becomes of the file
   * @param checkCrc all checksums are compared, which reads all of the file; else that of the pickle alone
   */
  public static Object load(Path path, boolean copy, boolean checkCrc) {
    NativeLibrary.load();
    try (NativeResults value = TandemNative.loadPt(path.toString(), copy, checkCrc)) {
      return Values.take("PtFile.load", value);
    }
  }

  /**
   * Writes what Python's {@code torch.load(path, weights_only=True)} gives back: the values that load gives, Integer,
   * Float, and arrays and collections as lists. Of tensors the values are saved, as state_dict() has them; views of
   * one storage share it, and it is written whole. The file appears under its name only when it is complete.
   */
  public static void save(Path path, Object value) {
    NativeLibrary.load();
    Values.give("PtFile.save", value, one -> TandemNative.savePt(path.toString(), one));
  }

  /** Whether a file's name is one of Python's: *.pt, *.pth or *.bin. */
  public static boolean isNameOf(Path path) {
    String name = path.toString();
    return name.endsWith(".pt") || name.endsWith(".pth") || name.endsWith(".bin");
  }
}
