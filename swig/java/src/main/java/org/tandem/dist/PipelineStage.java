package org.tandem.dist;

import java.util.Map;
import org.tandem.Tensor;
import org.tandem.nn.Module;

/** A part of a model, on the rank that has it. */
public final class PipelineStage {
  /** What a stage computes of one micro-batch. */
  @FunctionalInterface
  public interface Forward {
    Tensor[] of(Tensor[] inputs) throws Exception;
  }

  final int index;
  final Module module;
  String prefix = "";
  Forward forward;
  Map<String, String> tied = Map.of();

  /** {@code index}: among the stages of all ranks, from 0. The module takes one tensor and gives one, unless forward says more. */
  public PipelineStage(int index, Module module) {
    this.index = index;
    this.module = module;
    forward = inputs -> new Tensor[] {module.call(inputs[0])};
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
}
