package org.tandem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tandem.internal.Json;

/** What commits hold of optimizers and schedulers comes back as it was. */
class JsonTest {
  @Test
  void settingsComeBackToTheBit() {
    Map<Object, Object> settings = new LinkedHashMap<>();
    settings.put("lr", 0.1);
    settings.put("best", Double.POSITIVE_INFINITY);
    settings.put("worst", Double.NaN);
    settings.put("tiny", Double.MIN_VALUE);
    settings.put("zero", -0.0);
    settings.put("betas", Tuple.of(0.9, 0.999));
    settings.put("milestones", Map.of(30L, 1L));
    settings.put("nothing", null);
    settings.put("flags", Arrays.asList(true, false, null));
    settings.put("step", Long.MIN_VALUE);
    settings.put("none", List.of());
    settings.put("mode", "min \"\\ \u0000\n\u2028 \ud83d\ude00 \ud800");
    settings.put("dict", Map.of("double", "1"));
    List<Object> groups = List.of(settings, Map.of());
    assertEquals(groups, Json.read(Json.write(groups)));
  }

  @Test
  void textsAreAnObjectOfAnyNames() {
    Map<String, String> texts = Map.of("double", "no number");
    assertEquals(texts, Json.readObject(Json.writeTexts(texts)));
    assertEquals(Map.of("a", List.of(1L, 1.5), "b", "\n\u00e9/"), Json.readObject(" {\"a\" : [1, 15e-1],\"b\":\"\\n\\u00E9\\/\"} "));
  }

  @Test
  void whatIsNoJsonIsRefused() {
    for (String text : List.of("", "{", "{\"a\"}", "[1,]", "[1", "\"a", "\"\\u12\"", "\"\\x\"", "1 2", "nul", "-", "99999999999999999999",
             "{\"double\":\"x\"}", "{\"dict\":[1]}", "[".repeat(10_000))) {
      assertThrows(TandemDataLossException.class, () -> Json.read(text), text);
    }
    assertThrows(TandemUnsupportedException.class, () -> Json.write(new Object()));
  }
}
