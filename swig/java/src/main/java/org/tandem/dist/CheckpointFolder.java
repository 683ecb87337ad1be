package org.tandem.dist;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.tandem.TandemClosedException;
import org.tandem.TandemException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.NativeCheckpointFolder;
import org.tandem.internal.NativeLibrary;
import org.tandem.internal.NativeLoadedCheckpoint;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.NativeOwnTensors;
import org.tandem.internal.NativeParameterClient;
import org.tandem.internal.Natives;
import org.tandem.rpc.ParameterClient;

/**
 * The checkpoints of one training: a folder that gets one folder a save, of safetensors files and JSON that Python reads as
 * they are (docs/checkpoints.md).
 *
 * <p>A save writes under a temporary name, syncs, renames, and only then has the file {@code latest} name it: whatever ends
 * it early, the one before loads. With a group all ranks save and load together, and all of them get an exception where one
 * failed. One thread at a time may use it, but for {@link #abort}; close it before its group.
 */
public final class CheckpointFolder implements AutoCloseable {
  private static final int DEFAULT_KEEP = 3;
  private static final long NEWEST = -1;
  /** Of parameter servers; a rank reads its part of these alone. */
  private static final List<String> TABLES = List.of("tables", "table_optimizers");

  private final NativeCheckpointFolder handle;
  private final int rank;
  private final int ranks;

  /** Of this process alone; three checkpoints stay. */
  public CheckpointFolder(Path path) {
    this(path, DEFAULT_KEEP, null);
  }

  /**
   * The first save makes the folder.
   *
   * @param keep how many checkpoints stay, of the newest; 0: all
   * @param group whose ranks save and load together, in a folder that all of them see; null: this process alone
   */
  public CheckpointFolder(Path path, int keep, ProcessGroup group) {
    NativeLibrary.load();
    handle = new NativeCheckpointFolder(path.toString(), keep, group == null ? null : group.nativeHandle());
    rank = group == null ? 0 : group.rank();
    ranks = group == null ? 1 : group.size();
  }

  /** What a checkpoint holds. */
  public static final class Content {
    private final List<String> sections = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<Tensor> tensors = new ArrayList<>();
    private final List<Boolean> own = new ArrayList<>();
    private ParameterClient tables;
    private String values = "{}";

    /** Tensors that are the same on all ranks. {@code section}, as in "model", is part of a file's name. */
    public Content add(String section, Map<String, Tensor> tensors) {
      return add(section, tensors, false);
    }

    /** Tensors that this rank alone has, as its part of ZeRO's state; no other rank gives one of these names. */
    public Content addOwn(String section, Map<String, Tensor> tensors) {
      return add(section, tensors, true);
    }

    private Content add(String section, Map<String, Tensor> added, boolean isOwn) {
      added.forEach((name, tensor) -> {
        sections.add(section);
        names.add(name);
        tensors.add(tensor);
        own.add(isOwn);
      });
      return this;
    }

    /**
     * What parameter servers have. Each rank of the folder's group, the trainers, gives its client, and writes a part of the
     * tables: sections tables and table_optimizers. All save between the same two steps.
     */
    public Content addTables(ParameterClient client) {
      tables = client;
      return this;
    }

    /** JSON, of rank 0: epoch, place in the data, whatever the program wants. Kept letter by letter. */
    public Content values(String json) {
      values = json;
      return this;
    }
  }

  /**
   * A checkpoint that was read.
   *
   * @param worldSize of the ranks that saved it
   * @param values JSON
   * @param sections tensors by name, of all ranks' files
   * @param refused why later checkpoints were not used: files that are torn, flipped or unreadable; newest first
   */
  public record Loaded(long step, int worldSize, String values, Map<String, Map<String, Tensor>> sections,
      List<String> refused) {}

  private NativeCheckpointFolder open() {
    if (handle.isClosed()) {
      throw new TandemClosedException("CheckpointFolder", "the folder was closed before this call");
    }
    return handle;
  }

  /**
   * {@code step}: how far training has come, from 0; a checkpoint of the same step is replaced.
   *
   * @throws org.tandem.TandemIOException the disk is full, or fails
   * @throws org.tandem.TandemNotFoundException the folder above is missing
   */
  public void save(long step, Content content) {
    save(step, content, false);
  }

  /**
   * The same beside training: returns as soon as all is copied into memory, which later saves use again. Waits for the save
   * before; where that failed, throws its exception and saves nothing.
   */
  public void saveAsync(long step, Content content) {
    save(step, content, true);
  }

  /**
   * Makes what this rank saves when all ranks save: whatever it throws is thrown here, and the other ranks get an exception that
   * has it, with this rank's number.
   */
  public void save(long step, Supplier<Content> content) {
    save(step, made(step, content, false), false);
  }

  /** The same beside training. */
  public void saveAsync(long step, Supplier<Content> content) {
    save(step, made(step, content, true), true);
  }

  private <T> T made(long step, Supplier<T> content, boolean async) {
    try {
      return content.get();
    } catch (RuntimeException | Error failed) {
      try {
        open().saveFailed(step, async, failed.toString());
      } catch (TandemException told) {
        failed.addSuppressed(told);
      }
      throw failed;
    }
  }

  private void save(long step, Content content, boolean async) {
    boolean[] own = new boolean[content.own.size()];
    for (int i = 0; i < own.length; i++) {
      own[i] = content.own.get(i);
    }
    ParameterClient tables = content.tables;
    try (NativeOwnTensors part =
             tables == null ? null : made(step, () -> Natives.of(tables).state(rank, ranks), async)) {
      open().save(step, content.sections.toArray(String[]::new), content.names.toArray(String[]::new),
          Natives.of(content.tensors), own, content.values, async, part);
    }
  }

  /** Whether a save goes on. */
  public boolean saving() {
    return open().saving();
  }

  /** Until no save goes on; throws what it failed of, once. */
  public void await() {
    open().await();
  }

  /**
   * Ends a save beside training that waits for other ranks, with an exception that names those who are missing: a rank that is
   * stopped would hold it up until the group's timeout. So does the end of the group. Afterwards nothing can be saved
   * beside training. From any thread.
   */
  public void abort() {
    open().abort();
  }

  /** Of the checkpoints that are there, rising, whether they are whole or not. */
  public long[] steps() {
    return open().steps();
  }

  /**
   * The newest that is whole; nothing where none was ever saved. Every byte is compared with its checksum.
   *
   * @throws org.tandem.TandemDataLossException no whole one is left
   */
  public Optional<Loaded> load() {
    return read(NEWEST);
  }

  /** That of one step. */
  public Loaded load(long step) {
    return read(checked(step)).orElseThrow();
  }

  private static long checked(long step) {
    if (step < 0) {
      throw new TandemInvalidArgumentException("CheckpointFolder.load", "steps are counted from 0, and this is " + step);
    }
    return step;
  }

  /**
   * Of the newest that is whole, tensors of these sections whose names begin with one of these prefixes, such as
   * "encoder."; none: all. Files without any are not read.
   */
  public Optional<Loaded> load(List<String> sections, List<String> prefixes) {
    return read(NEWEST, sections, prefixes);
  }

  /**
   * The newest that is whole, whose tables the parameter servers get: each rank of the folder's group, the trainers, calls it
   * with its client, between the same two steps, and reads its part of them alone. It loads with any number of trainers and
   * servers. The other sections are in what is given. What a rank fails of is an exception on all.
   *
   * @throws org.tandem.TandemInvalidArgumentException naming what is missing or of another shape or dtype
   */
  public Optional<Loaded> load(ParameterClient client) {
    return read(NEWEST, client);
  }

  /** That of one step. */
  public Loaded load(long step, ParameterClient client) {
    return read(checked(step), client).orElseThrow();
  }

  private Optional<Loaded> read(long step, ParameterClient client) {
    NativeParameterClient servers = Natives.of(client);
    try (NativeLoadedCheckpoint read = servers.read(open(), step, rank, ranks)) {
      if (!read.found()) {
        return Optional.empty();
      }
      List<Loaded> loaded = new ArrayList<>();
      together(() -> {
        servers.load(read, rank, ranks);
        loaded.add(loaded(read, TABLES));
      });
      return Optional.of(loaded.get(0));
    }
  }

  /**
   * Has each rank use what it loaded, as to fill a model. Where that fails on one rank all of them get an exception, the others
   * with the rank's number. All ranks call it.
   */
  public void together(Runnable use) {
    try {
      use.run();
    } catch (RuntimeException | Error failed) {
      try {
        open().agree(failed.toString());
      } catch (TandemException told) {
        failed.addSuppressed(told);
      }
      throw failed;
    }
    open().agree("");
  }

  private Optional<Loaded> read(long step) {
    return read(step, List.of(), List.of());
  }

  private Optional<Loaded> read(long step, List<String> wanted, List<String> prefixes) {
    try (NativeLoadedCheckpoint read =
        open().load(step, wanted.toArray(String[]::new), prefixes.toArray(String[]::new))) {
      return read.found() ? Optional.of(loaded(read, List.of())) : Optional.empty();
    }
  }

  private static Loaded loaded(NativeLoadedCheckpoint read, List<String> without) {
    Map<String, Map<String, Tensor>> sections = new LinkedHashMap<>();
    for (String section : read.sections()) {
      if (!without.contains(section)) {
        try (NativeNamedTensors list = read.tensors(section)) {
          sections.put(section, Natives.named(list));
        }
      }
    }
    return new Loaded(read.step(), read.worldSize(), read.values(), sections, List.of(read.refused()));
  }

  /**
   * Waits for a save that goes on, and throws what it failed of where nobody was told. One that waits for a rank whose process
   * has not run for some ten seconds is ended, as by {@link #abort}.
   */
  @Override
  public void close() {
    if (handle.isClosed()) {
      return;
    }
    try {
      handle.finish();
    } finally {
      handle.close();
    }
  }
}
