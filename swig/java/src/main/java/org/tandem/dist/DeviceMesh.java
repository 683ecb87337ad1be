package org.tandem.dist;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.tandem.TandemClosedException;
import org.tandem.TandemNotFoundException;
import org.tandem.internal.NativeDeviceMesh;

/**
 * A grid of ranks with a name for each dimension, for programs that are parallel in more than one way. Ranks are in row-major
 * order: the last dimension's neighbours are neighbours by rank. Must be closed, before its world. Source:
 * torch.distributed.device_mesh.DeviceMesh.
 */
public final class DeviceMesh implements AutoCloseable {
  private final ProcessGroup world;
  private final NativeDeviceMesh handle;
  private final List<String> names;
  private final List<ProcessGroup> groups = new ArrayList<>();

  /**
   * Arranges all ranks of a group in a grid; all of them call it, with the same sizes and names. Blocks: connects the groups
   * along each dimension. {@link org.tandem.TandemInvalidArgumentException}, on all ranks, for a shape that has not as many
   * places as there are ranks, for names that are empty or given twice, and where ranks differ.
   */
  public DeviceMesh(ProcessGroup world, long[] shape, String... names) {
    this(world, new NativeDeviceMesh(world.nativeHandle(), shape, names));
  }

  private DeviceMesh(ProcessGroup world, NativeDeviceMesh handle) {
    this.world = world;
    this.handle = handle;
    names = List.of(handle.names());
    for (String name : names) {
      groups.add(ProcessGroup.around(handle.group(name)));
    }
  }

  private NativeDeviceMesh nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("DeviceMesh", "the mesh was closed before this call");
    }
    return handle;
  }

  public List<String> names() {
    return names;
  }

  /** How many ranks there are along each dimension. */
  public long[] shape() {
    return nativeHandle().shape();
  }

  /** How many ranks it has. */
  public long size() {
    return LongStream.of(shape()).reduce(1, (a, b) -> a * b);
  }

  /** This rank's place along each dimension. */
  public long[] coordinate() {
    return nativeHandle().coordinate();
  }

  /** This rank's place along a dimension. {@link TandemNotFoundException} for a name that the mesh lacks. */
  public int localRank(String name) {
    return (int) coordinate()[indexOf(name)];
  }

  /**
   * The group of the ranks that differ from this one in that coordinate alone; it is closed with the mesh. {@link
   * TandemNotFoundException} for a name that the mesh lacks.
   */
  public ProcessGroup group(String name) {
    nativeHandle();
    return groups.get(indexOf(name));
  }

  /** The group of all ranks of the mesh that this one was taken from. */
  public ProcessGroup world() {
    return world;
  }

  /**
   * The mesh of some dimensions, in this one's order, with this rank's coordinates along the others; it asks no other rank.
   * Must be closed. {@link TandemNotFoundException} for a name that the mesh lacks.
   */
  public DeviceMesh submesh(String... some) {
    return new DeviceMesh(world, nativeHandle().submesh(some));
  }

  /** All dimensions as one. All ranks of the world call it, on meshes of the same dimensions. Blocks. Must be closed. */
  public DeviceMesh flatten(String name) {
    return new DeviceMesh(world, nativeHandle().flatten(name));
  }

  private int indexOf(String name) {
    int index = names.indexOf(name);
    if (index < 0) {
      throw new TandemNotFoundException("DeviceMesh", "there is no dimension '" + name + "'; there are " + names);
    }
    return index;
  }

  /** Leaves its groups. A second call does nothing. */
  @Override
  public void close() {
    groups.forEach(ProcessGroup::close);
    handle.close();
  }
}
