package org.tandem.nn;

import java.util.Collections;
import java.util.Map;
import org.tandem.TandemNotFoundException;

/**
 * Modules by name, in the order in which they came, that a module registers; it has no forward. Source:
 * torch.nn.ModuleDict.
 */
public final class ModuleDict<M extends Module> extends Module {
  public ModuleDict() {}

  /** In the map's order. */
  public ModuleDict(Map<String, ? extends M> modules) {
    modules.forEach(this::put);
  }

  /** Adds a module, or puts one in the place of another, which stays open. Returns this dict. */
  public ModuleDict<M> put(String name, M module) {
    ModuleParts.checkName(name);
    parts().children.put(name, module);
    return this;
  }

  /** @throws TandemNotFoundException there is none of that name; the message lists those that there are */
  public M get(String name) {
    M module = asMap().get(name);
    if (module == null) {
      throw new TandemNotFoundException(
          "ModuleDict.get", "there is no module '" + name + "'; there are " + asMap().keySet());
    }
    return module;
  }

  public boolean containsKey(String name) {
    return asMap().containsKey(name);
  }

  /** Takes a module out, which stays open, and returns it; null where there is none. */
  public M remove(String name) {
    M module = asMap().get(name);
    parts().children.remove(name);
    return module;
  }

  public int size() {
    return asMap().size();
  }

  /** Names and modules; it follows what is put and removed. */
  @SuppressWarnings("unchecked") // put takes no others
  public Map<String, M> asMap() {
    return Collections.unmodifiableMap((Map<String, M>) parts().children);
  }
}
