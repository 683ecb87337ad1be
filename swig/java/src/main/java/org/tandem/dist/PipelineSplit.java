package org.tandem.dist;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.tandem.TandemException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.NativePipelineSplitOptions;
import org.tandem.internal.OwnFunctions;
import org.tandem.nn.ExportedProgram;
import org.tandem.nn.Sequential;

/**
 * Cuts a model into stages that take about the same time.
 *
 * <pre>{@code
 * List<PipelineStage> stages = PipelineSplit.byTime(group, PipelineSplit.layers(model), new Tensor[] {x.narrow(0, 0, 4)});
 * Pipeline pipeline = new Pipeline(group, stages, options);
 * }</pre>
 *
 * Stages keep the layers that they have, and no others: once the model and its layers are dropped, the collector frees the
 * rest; of a program its parts do. Source: torchgpipe's balance_by_time.
 */
public final class PipelineSplit {
  private static final String OPERATION = "PipelineSplit.join";

  private PipelineSplit() {}

  /** How layers are measured. */
  public static final class Options {
    private int stagesPerRank = 1;
    private int repeats = 5;
    private BiFunction<Tensor[], Tensor[], Tensor> loss;
    private Tensor[] targets = {};
    private ProcessGroup everyone;

    /** Rank r gets the stages r, r + the group's size, and so on. */
    public Options stagesPerRank(int value) {
      stagesPerRank = value;
      return this;
    }

    /** Measurements, of which the median counts; one more goes before them. */
    public Options repeats(int value) {
      repeats = value;
      return this;
    }

    /** Has the last layer's time have that of the loss, too, for the micro-batch's targets. */
    public Options loss(BiFunction<Tensor[], Tensor[], Tensor> value, Tensor... wanted) {
      loss = value;
      targets = wanted.clone();
      return this;
    }

    /** All ranks of all replicas of the pipeline, which are cut alike. */
    public Options everyone(ProcessGroup all) {
      everyone = all;
      return this;
    }
  }

  /** The layers of a model, each as if it were a stage: with the names that it has there, "2.weight". */
  public static List<PipelineStage> layers(Sequential model) {
    List<PipelineStage> layers = new ArrayList<>();
    model.namedChildren().forEach((name, layer) -> layers.add(new PipelineStage(layers.size(), layer).prefix(name + ".")));
    return layers;
  }

  /**
   * The parts of an exported program, at least so many or as many as there are, each as if it were a stage; see {@link
   * ExportedProgram#parts}.
   */
  public static List<PipelineStage> layers(ExportedProgram program, int least) {
    List<PipelineStage> layers = new ArrayList<>();
    for (ExportedProgram.Part part : program.parts(least)) {
      layers.add(new PipelineStage(layers.size(), part).forward(inputs -> part.forwardAll((Object[]) inputs)));
    }
    return layers;
  }

  /**
   * Stages of layers in a row, of which {@code first} are the first layers of each: 0, 3, 5 are three stages. A parameter that
   * several layers have gets the name of the first; where they come to be in several stages it is tied in these. {@link
   * TandemInvalidArgumentException} where {@code first} does not begin with 0 and rise, where two tensors have one name (give
   * layers their prefix), and for layers with tied parameters: it is the tensor itself that layers share.
   */
  public static List<PipelineStage> join(List<PipelineStage> layers, int... first) {
    List<List<PipelineStage>> parts = new ArrayList<>();
    for (int i = 0; i < first.length; i++) {
      int end = i + 1 < first.length ? first[i + 1] : layers.size();
      if (i == 0 && first[i] != 0 || first[i] >= end || end > layers.size()) {
        throw new TandemInvalidArgumentException(OPERATION, "stages of " + layers.size() + " layers begin with "
            + Arrays.toString(first) + "; give 0, and then rising numbers of layers");
      }
      parts.add(layers.subList(first[i], end));
    }
    List<Map<String, String>> tied = tied(parts);
    List<PipelineStage> stages = new ArrayList<>();
    for (List<PipelineStage> part : parts) {
      stages.add(new PipelineStage(stages.size(), part).tied(tied.get(stages.size())));
    }
    return stages;
  }

  private record Use(int stage, String name) {}

  /** Of each stage what others have, too: the name here, and the first one. */
  private static List<Map<String, String>> tied(List<List<PipelineStage>> stages) {
    Map<Tensor, String> names = new IdentityHashMap<>();
    Map<String, Tensor> tensors = new HashMap<>();
    Map<String, List<Use>> uses = new HashMap<>(); // by the first name
    List<Map<String, String>> tied = new ArrayList<>();
    for (List<PipelineStage> stage : stages) {
      int number = tied.size();
      tied.add(new HashMap<>());
      for (PipelineStage layer : stage) {
        if (!layer.tied().isEmpty()) {
          throw new TandemInvalidArgumentException(OPERATION, "a layer ties " + layer.tied().keySet()
              + ", which stages do; have the layers share the tensor itself");
        }
        layer.ownTensors().forEach((name, tensor) -> {
          String common = names.computeIfAbsent(tensor, unknown -> name);
          Tensor other = tensors.putIfAbsent(common, tensor);
          if (other != null && other != tensor && !other.isSame(tensor)) {
            throw new TandemInvalidArgumentException(OPERATION, "two layers have a tensor '" + name
                + "' of their own; give each its name in the whole model with prefix()");
          }
          uses.computeIfAbsent(common, none -> new ArrayList<>()).add(new Use(number, name));
        });
      }
    }
    uses.forEach((common, all) -> {
      if (all.get(0).stage != all.get(all.size() - 1).stage) {
        all.forEach(use -> tied.get(use.stage).put(use.name, common));
      }
    });
    return tied;
  }

  /** With the defaults of {@link Options}. */
  public static List<PipelineStage> byTime(ProcessGroup group, List<PipelineStage> layers, Tensor... inputs) {
    return byTime(group, layers, inputs, new Options());
  }

  /**
   * This rank's stages of those that take about the same time, forward and backward. All ranks call it with the layers of the
   * whole model; rank 0 of all, which alone needs inputs, a micro-batch, measures each layer, and all take its answer. Inputs,
   * gradients, buffers and the CPU's random numbers are afterwards what they were. On all ranks what a layer fails of, with its
   * number, and {@link TandemInvalidArgumentException} for fewer layers than stages, and for ranks with other numbers of them.
   */
  public static List<PipelineStage> byTime(ProcessGroup group, List<PipelineStage> layers, Tensor[] inputs, Options options) {
    List<Tensor> tensors = new ArrayList<>();
    RuntimeException unable = null;
    long[] first;
    try (NativePipelineSplitOptions natives = new NativePipelineSplitOptions()) {
      natives.setStagesPerRank(options.stagesPerRank);
      natives.setRepeats(options.repeats);
      try {
        if (!layers.isEmpty()) {
          join(layers, 0);
        }
        layers.forEach(layer -> tensors.addAll(layer.ownTensors().values()));
      } catch (TandemException refused) { // which the other ranks are to hear of
        unable = refused;
        natives.setFault(refused.getMessage());
      }
      first = OwnFunctions.splitByTime(group.nativeHandle(), layers.size(), tensors, inputs, options.targets, natives,
          options.everyone == null ? null : options.everyone.nativeHandle(), options.loss != null,
          new OwnFunctions.MicroBatches() {
            @Override
            public Tensor[] compute(int layer, Tensor[] given) throws Exception {
              return layers.get(layer).forward().of(given);
            }

            @Override
            public Tensor loss(Tensor[] outputs, Tensor[] targets) {
              return options.loss.apply(outputs, targets);
            }
          });
    } catch (TandemException failed) {
      throw unable == null ? failed : unable;
    }
    List<PipelineStage> own = new ArrayList<>();
    for (PipelineStage stage : join(layers, Arrays.stream(first).mapToInt(Math::toIntExact).toArray())) {
      if (stage.index % group.size() == group.rank()) {
        own.add(stage);
      }
    }
    return own;
  }
}
