package org.tandem.elastic;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.tandem.Device;
import org.tandem.Scope;
import org.tandem.StateDict;
import org.tandem.Tandem;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.Json;
import org.tandem.internal.NativeElastic;
import org.tandem.internal.NativeLoadedCheckpoint;
import org.tandem.internal.NativeNamedTensors;
import org.tandem.internal.Natives;
import org.tandem.internal.ScopeFrame;
import org.tandem.nn.Module;
import org.tandem.optim.Averages;
import org.tandem.optim.Optimizer;
import org.tandem.optim.Scheduler;

/**
 * What training goes on with after a rank was lost or has joined: the same on all ranks, but {@link #rng}. Each part has a name,
 * which is that of a section or a value of checkpoints (docs/checkpoints.md): letters, digits, '_' and '-'. Parts are to be open
 * as long as the training runs.
 *
 * <pre>{@code
 * State state = new State()
 *     .module("model", net)
 *     .optimizer("optimizer", sgd)
 *     .scheduler("scheduler", schedule)
 *     .place("data", place)
 *     .number("epochs", () -> epochs, saved -> epochs = saved)
 *     .real("best", () -> best, saved -> best = saved);
 * }</pre>
 */
public final class State {
  private static final String RNG = "rng";

  /** Tensors: what there is to keep, and what is done with what was kept. */
  private record Section(boolean own, Supplier<Map<String, Tensor>> save, Consumer<Map<String, Tensor>> load) {}

  /** Text: the same. */
  private record Value(Supplier<String> save, Consumer<String> load) {}

  private final Map<String, Section> sections = new LinkedHashMap<>();
  private final Map<String, Value> values = new LinkedHashMap<>();
  private final List<Consumer<? super Job>> resets = new ArrayList<>();

  /** Parameters and buffers. Whether it trains or evaluates ({@code train()}, {@code eval()}) is no part of it. */
  public State module(String name, Module module) {
    return section(name, false, module::stateDict, saved -> {
      module.loadStateDict(saved);
      // What a backward pass that came to no end has left.
      module.parameters().forEach(parameter -> parameter.setGrad(null));
    });
  }

  /** What it remembers, its settings, such as the learning rate, and what schedulers keep with these. */
  public State optimizer(String name, Optimizer optimizer) {
    section(name, false, optimizer::state, saved -> {
      optimizer.loadState(saved);
      optimizer.zeroGrad(); // those, too, of parameters that are in no module here
    });
    return value(name + ".settings", () -> Settings.of(optimizer), saved -> Settings.load(optimizer, saved));
  }

  /** After its optimizer, whose rates it sets when it is loaded. */
  public State scheduler(String name, Scheduler scheduler) {
    return value(name, () -> Json.write(scheduler.stateDict()), saved -> scheduler.loadStateDict(Json.read(saved)));
  }

  /** Averages of weights. */
  public State averages(String name, Averages averages) {
    return section(name, false, averages::stateDict, averages::loadStateDict);
  }

  /**
   * Any dense tensors, always of the same names, dtypes and shapes; what they hold is changed in place, by operators: a commit
   * that is still being copied does not notice what is written through {@link Tensor#memory}.
   */
  public State tensors(String name, Supplier<Map<String, Tensor>> tensors) {
    Supplier<Map<String, Tensor>> outside = () -> ScopeFrame.outside(tensors);
    return section(name, false, outside, saved -> StateDict.load(outside.get(), saved, true, false));
  }

  /**
   * The random numbers of this process, of a device's default generator, go back to the last commit with everything else. They
   * stay with their process: one that joins keeps its own, and they are in no checkpoint. {@link Elastic.Options#seed} is what
   * has them be the same whoever draws them.
   */
  public State rng(Device device) {
    return section(device.type() == Device.Type.CPU ? RNG : RNG + '-' + device.toString().replace(':', '-'), true,
        () -> Map.of("own", Tandem.rngState(device)), saved -> {
          Tensor own = saved.get("own");
          if (own != null) {
            Tandem.setRngState(device, own);
          }
        });
  }

  /** Of the CPU. */
  public State rng() { return rng(Device.CPU); }

  /** How far training has come in its data. */
  public State place(String name, Place place) {
    return bytes(name, place::state, place::restore);
  }

  /** A value of the program's own, as text. */
  public State text(String name, Supplier<String> save, Consumer<String> load) {
    return value(name, () -> ScopeFrame.outside(save), load);
  }

  /** A whole number; {@link #real} takes others. */
  public State number(String name, LongSupplier save, LongConsumer load) {
    return text(name, () -> Long.toString(save.getAsLong()), saved -> load.accept(Long.parseLong(saved)));
  }

  /** Any number, to the bit. */
  public State real(String name, Supplier<Double> save, Consumer<Double> load) {
    return text(name, () -> Double.toString(save.get()), saved -> load.accept(Double.parseDouble(saved)));
  }

  /** Such as a {@link org.tandem.data.DynamicLoader#state}. */
  public State bytes(String name, Supplier<byte[]> save, Consumer<byte[]> load) {
    return text(name, () -> new String(Base64.getEncoder().encode(save.get()), StandardCharsets.US_ASCII),
        saved -> load.accept(Base64.getDecoder().decode(saved)));
  }

  /**
   * Called in each membership epoch, the first one too, when the state is loaded and before training begins: for whatever
   * depends on the ranks. A learning rate that is set here replaces the one that schedulers have come to: have one that grows
   * with the number of ranks follow from a value of the state, such as the number for which it was set last.
   */
  public State onReset(Consumer<? super Job> reset) {
    resets.add(reset);
    return this;
  }

  private State section(
      String name, boolean own, Supplier<Map<String, Tensor>> save, Consumer<Map<String, Tensor>> load) {
    checkNew(name);
    sections.put(name, new Section(own, save, load));
    return this;
  }

  private State value(String name, Supplier<String> save, Consumer<String> load) {
    checkNew(name);
    values.put(name, new Value(save, load));
    return this;
  }

  private void checkNew(String name) {
    if (sections.containsKey(name) || values.containsKey(name)) {
      throw new TandemInvalidArgumentException("State", "it has a part called '" + name + "' already");
    }
  }

  boolean hasRng() {
    return sections.values().stream().anyMatch(Section::own);
  }

  /** A commit, of what is there now. */
  void commitTo(NativeElastic session) {
    List<String> ofSections = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<Tensor> tensors = new ArrayList<>();
    List<Boolean> own = new ArrayList<>();
    Map<String, String> texts = new LinkedHashMap<>();
    try (Scope scope = Scope.open()) {
      sections.forEach((section, part) -> part.save.get().forEach((name, tensor) -> {
        ofSections.add(section);
        names.add(name);
        tensors.add(tensor);
        own.add(part.own);
      }));
      values.forEach((name, part) -> texts.put(name, part.save.get()));
      boolean[] flags = new boolean[own.size()];
      for (int i = 0; i < flags.length; i++) {
        flags[i] = own.get(i);
      }
      session.commit(ofSections.toArray(String[]::new), names.toArray(String[]::new), Natives.of(tensors), flags,
          Json.writeTexts(texts));
    }
  }

  /** Fills all parts with the last commit, and resets what depends on the ranks. */
  void load(NativeElastic session, Job job) {
    String json;
    try (NativeLoadedCheckpoint last = session.committed(); Scope scope = Scope.open()) {
      // A section without tensors, as of an optimizer that has not stepped, is none of its sections.
      List<String> there = List.of(last.sections());
      sections.forEach((name, part) -> part.load.accept(there.contains(name) ? tensors(last, name) : Map.of()));
      json = last.values();
    }
    Map<String, Object> texts = Json.readObject(json);
    values.forEach((name, part) -> {
      if (!(texts.get(name) instanceof String text)) {
        throw new TandemInvalidArgumentException(
            "Elastic.run", "the state that was loaded has no value '" + name + "', but " + texts.keySet()
                + ": another program's, or another version's; give this one a folder of its own for checkpoints");
      }
      part.load.accept(text);
    });
    resets.forEach(reset -> reset.accept(job));
  }

  private static Map<String, Tensor> tensors(NativeLoadedCheckpoint checkpoint, String section) {
    try (NativeNamedTensors list = checkpoint.tensors(section)) {
      return Natives.named(list);
    }
  }
}
