package org.tandem;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tandem.internal.NativeCheckpoint;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.Natives;
import org.tandem.internal.TandemNative;

/**
 * Tensors by name, with text metadata, in a file of the safetensors format.
 *
 * @param tensors in the file's order
 */
public record Safetensors(Map<String, Tensor> tensors, Map<String, String> metadata) {
  /** Writes to a temporary name, syncs and renames: the file is whole or absent. */
  public static void save(Path path, Map<String, Tensor> tensors, Map<String, String> metadata) {
    save(path, tensors, metadata, 0);
  }

  /**
   * Writes several files into a folder, as Hugging Face lays them out: model-00001-of-00002.safetensors, and the index
   * model.safetensors.index.json last. What fits one file becomes model.safetensors.
   *
   * @param shardBytes of tensors in a file at most; a larger tensor has a file of its own
   * @throws TandemInvalidArgumentException the folder has such files
   */
  public static void saveSharded(
      Path folder, Map<String, Tensor> tensors, Map<String, String> metadata, long shardBytes) {
    if (shardBytes < 1) {
      throw new TandemInvalidArgumentException(
          "Safetensors.saveSharded", "shardBytes is " + shardBytes + "; it must be at least 1");
    }
    save(folder, tensors, metadata, shardBytes);
  }

  private static void save(Path path, Map<String, Tensor> tensors, Map<String, String> metadata, long shardBytes) {
    NativeLibrary.load();
    TandemNative.saveSafetensors(path.toString(), tensors.keySet().toArray(String[] ::new),
        Natives.of(tensors.values()), metadata.keySet().toArray(String[] ::new),
        metadata.values().toArray(String[] ::new), shardBytes);
  }

  /**
   * Of a file, of the index of several, or of their folder.
   *
   * @throws TandemNotFoundException there is no such file
   * @throws TandemDataLossException it is no safetensors file, or a damaged one
   */
  public static Safetensors load(Path path) { return load(path, false); }

  /**
   * @param map tensors refer to the files, which may not be cut off meanwhile: nothing is read before it is used,
   *     processes share it, and what is written to a tensor changes no file
   */
  public static Safetensors load(Path path, boolean map) {
    NativeLibrary.load();
    try (NativeCheckpoint file = new NativeCheckpoint(path.toString(), map)) {
      Map<String, Tensor> tensors = new LinkedHashMap<>();
      for (long i = 0; i < file.size(); i++) {
        tensors.put(file.name(i), new Tensor(file.tensor(i)));
      }
      Map<String, String> metadata = new LinkedHashMap<>();
      String[] keys = file.metadataKeys();
      String[] values = file.metadataValues();
      for (int i = 0; i < keys.length; i++) {
        metadata.put(keys[i], values[i]);
      }
      return new Safetensors(tensors, metadata);
    }
  }
}
