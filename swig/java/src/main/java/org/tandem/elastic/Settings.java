package org.tandem.elastic;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tandem.Scope;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.internal.Json;
import org.tandem.optim.Optimizer;

/** An optimizer's settings and what schedulers keep with them, as text: Python's param_groups without the parameters. */
final class Settings {
  private static final String GROUPS = "param_groups";
  private static final String PARAMETERS = "params";

  private Settings() {}

  static String of(Optimizer optimizer) {
    try (Scope scope = Scope.open()) {
      List<Map<Object, Object>> groups = groups(optimizer.stateDict());
      groups.forEach(group -> group.remove(PARAMETERS));
      return Json.write(groups);
    }
  }

  static void load(Optimizer optimizer, String text) {
    try (Scope scope = Scope.open()) {
      Map<Object, Object> dict = new LinkedHashMap<>(optimizer.stateDict());
      List<Map<Object, Object>> groups = groups(dict);
      if (!(Json.read(text) instanceof List<?> saved) || saved.size() != groups.size()) {
        throw new TandemInvalidArgumentException("Elastic.run",
            "the settings that were loaded are not those of the " + groups.size() + " groups that the optimizer here has");
      }
      List<Object> loaded = new ArrayList<>();
      for (int i = 0; i < groups.size(); i++) {
        Map<Object, Object> group = new LinkedHashMap<>((Map<?, ?>) saved.get(i));
        group.put(PARAMETERS, groups.get(i).get(PARAMETERS));
        loaded.add(group);
      }
      dict.put(GROUPS, loaded);
      optimizer.loadStateDict(dict);
    }
  }

  private static List<Map<Object, Object>> groups(Map<Object, Object> stateDict) {
    List<Map<Object, Object>> groups = new ArrayList<>();
    for (Object group : (List<?>) stateDict.get(GROUPS)) {
      groups.add(new LinkedHashMap<>((Map<?, ?>) group));
    }
    return groups;
  }
}
