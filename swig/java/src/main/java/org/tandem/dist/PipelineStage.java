package org.tandem.dist;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.nn.Module;

/** A part of a model, on the rank that has it, or a layer that stages are made of: see {@link PipelineSplit}. */
public final class PipelineStage {
  /** What a stage computes of one micro-batch. */
  @FunctionalInterface
  public interface Forward {
    Tensor[] of(Tensor[] inputs) throws Exception;
  }

  final int index;
  private final Module module;
  private final List<PipelineStage> layers; // that it consists of; null: it is one itself
  private String prefix = "";
  private Forward forward;
  private Map<String, String> tied = Map.of();

  /** {@code index}: among the stages of all ranks, from 0. The module takes one tensor and gives one, unless forward says more. */
  public PipelineStage(int index, Module module) {
    this.index = index;
    this.module = module;
    layers = null;
    forward = inputs -> {
      if (inputs.length != 1) {
        throw new TandemInvalidArgumentException("Pipeline", module.getClass().getSimpleName() + " takes one tensor here, not "
            + inputs.length + "; set forward, which says what becomes of each");
      }
      return new Tensor[] {module.call(inputs[0])};
    };
  }

  /** One after the other. */
  PipelineStage(int index, List<PipelineStage> layers) {
    this.index = index;
    this.layers = List.copyOf(layers);
    module = null;
    forward = inputs -> {
      Tensor[] values = inputs;
      for (PipelineStage layer : this.layers) {
        values = layer.forward.of(values);
      }
      return values;
    };
  }

  /** Before the names of its parameters and buffers, so that they are those of the whole model: "blocks.1.". */
  public PipelineStage prefix(String value) {
    prefix = value;
    return this;
  }

  /** It takes what the stage before gives, the first one the batch's inputs; tensors that are not there are null. */
  public PipelineStage forward(Forward value) {
    forward = value;
    return this;
  }

  /**
   * Parameters that other stages have, too, as an embedding and an output layer that share their weight: the name here, with
   * the prefix, and the one that all of them give it. They begin with the lowest stage's values, and get the sum of their
   * gradients.
   */
  public PipelineStage tied(Map<String, String> names) {
    tied = Map.copyOf(names);
    return this;
  }

  /** Among the stages of all ranks, from 0. */
  public int index() {
    return index;
  }

  /** Its parameters, each once, by the names that they have in the whole model and its checkpoints. */
  public Map<String, Tensor> namedParameters() {
    return named(Module::namedParameters);
  }

  /** Its buffers likewise. */
  public Map<String, Tensor> namedBuffers() {
    return named(Module::namedBuffers);
  }

  /** Those of {@link #namedParameters()}, for an optimizer. */
  public List<Tensor> parameters() {
    return new ArrayList<>(namedParameters().values());
  }

  List<PipelineStage> layers() {
    return layers == null ? List.of(this) : layers;
  }

  Forward forward() {
    return forward;
  }

  Map<String, String> tied() {
    return tied;
  }

  /** All that a layer has, by its own names. */
  Map<String, Tensor> ownTensors() {
    Map<String, Tensor> all = new LinkedHashMap<>();
    module.namedParameters().forEach((name, tensor) -> all.put(prefix + name, tensor));
    module.namedBuffers().forEach((name, tensor) -> all.put(prefix + name, tensor));
    return all;
  }

  /** What is wrong with what it ties; null: nothing. */
  String fault() {
    Set<String> names = new HashSet<>();
    for (PipelineStage layer : layers()) {
      names.addAll(layer.ownTensors().keySet());
    }
    for (String name : tied.keySet()) {
      if (!names.contains(name)) {
        return "stage " + index + " has no parameter '" + name + "', which is to be tied; it has "
            + names.stream().sorted().toList();
      }
    }
    return null;
  }

  private Map<String, Tensor> named(Function<Module, Map<String, Tensor>> of) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    for (PipelineStage layer : layers()) {
      of.apply(layer.module).forEach((own, tensor) -> {
        String full = layer.prefix + own;
        // Parts of a program have references of their own to a tensor, under one name.
        if (all.values().stream().noneMatch(other -> other == tensor)) {
          all.putIfAbsent(tied.getOrDefault(full, full), tensor);
        }
      });
    }
    return all;
  }
}
