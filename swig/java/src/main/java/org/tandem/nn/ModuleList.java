package org.tandem.nn;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * A list of modules that a module registers; it has no forward. Their parameters are named by their place: "0.weight".
 *
 * <pre>{@code
 * private final ModuleList<Block> blocks = register("blocks", new ModuleList<>());
 * …
 * for (Block block : blocks) {
 *   x = block.forward(x);
 * }
 * }</pre>
 *
 * Source: torch.nn.ModuleList.
 */
public final class ModuleList<M extends Module> extends Module implements Iterable<M> {
  @SafeVarargs
  public ModuleList(M... modules) {
    for (M module : modules) {
      append(module);
    }
  }

  public ModuleList(List<? extends M> modules) {
    modules.forEach(this::append);
  }

  /** Adds a module and returns this list. */
  public ModuleList<M> append(M module) {
    register(Integer.toString(size()), module);
    return this;
  }

  /** Adds a module before that of a place, from 0 to {@link #size()}. */
  public void insert(int index, M module) {
    List<M> all = all();
    all.add(index, module);
    parts().children.clear();
    all.forEach(this::append);
  }

  /** The module of a place. @throws IndexOutOfBoundsException there is none */
  public M get(int index) {
    return all().get(index);
  }

  /** Puts a module in the place of another, which stays open. */
  public void set(int index, M module) {
    get(index);
    replace(Integer.toString(index), module);
  }

  public int size() {
    return parts().children.size();
  }

  @SuppressWarnings("unchecked") // append and set take no others
  private List<M> all() {
    return (List<M>) new ArrayList<>(parts().children.values());
  }

  /** The modules as they are now. */
  @Override
  public Iterator<M> iterator() {
    return all().iterator();
  }
}
