package org.tandem.dist;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.tandem.TandemClosedException;
import org.tandem.TandemInvalidArgumentException;
import org.tandem.Tensor;
import org.tandem.internal.NativePipeline;
import org.tandem.internal.NativePipelineOptions;
import org.tandem.internal.Natives;
import org.tandem.internal.OwnFunctions;

/**
 * A model that is cut into stages, each on a rank of its own, trained on batches that are cut into micro-batches, so that
 * stages compute at the same time. A micro-batch that fails has all ranks fail with the same error, which names stage,
 * micro-batch and rank; without replicas the next step can be made. Not for several threads at once. Must be closed, before
 * its groups. Source: torch.distributed.pipelining.
 */
public final class Pipeline implements AutoCloseable {
  /** How a pipeline is made. */
  public static final class Options {
    private String schedule = "1f1b";
    private int microBatches = 1;
    private int stagesPerRank = 1;
    private boolean averageLosses = true;
    private BiFunction<Tensor[], Tensor[], Tensor> loss;
    private ProcessGroup replicas;
    private ProcessGroup everyone;
    private double bucketCapMb = 25;
    private boolean broadcastBuffers = true;
    private boolean findUnusedParameters;
    private boolean gradientAsBucketView;
    private String fault = "";

    private Options copy() {
      Options made = new Options();
      made.schedule = schedule;
      made.microBatches = microBatches;
      made.stagesPerRank = stagesPerRank;
      made.averageLosses = averageLosses;
      made.loss = loss;
      made.replicas = replicas;
      made.everyone = everyone;
      made.bucketCapMb = bucketCapMb;
      made.broadcastBuffers = broadcastBuffers;
      made.findUnusedParameters = findUnusedParameters;
      made.gradientAsBucketView = gradientAsBucketView;
      made.fault = fault;
      return made;
    }

    /** "gpipe", "1f1b" or "interleaved1f1b". */
    public Options schedule(String value) {
      schedule = value;
      return this;
    }

    /** That a batch is cut into along its first dimension. */
    public Options microBatches(int value) {
      microBatches = value;
      return this;
    }

    /** Rank r has the stages r, r + the group's size, and so on. */
    public Options stagesPerRank(int value) {
      stagesPerRank = value;
      return this;
    }

    /** Of one micro-batch, of what the last stage gives and the targets: a tensor of one element. Of the last stage's rank. */
    public Options loss(BiFunction<Tensor[], Tensor[], Tensor> value) {
      loss = value;
      return this;
    }

    /** Losses are means over rows, and gradients those of the mean over the batch; false: of the sum of the losses. */
    public Options averageLosses(boolean value) {
      averageLosses = value;
      return this;
    }

    /**
     * The ranks that have this rank's stages in other pipelines, and all ranks of all of them. Their gradients are averaged
     * once a step, while the last micro-batches run.
     */
    public Options replicas(ProcessGroup sameStages, ProcessGroup all) {
      replicas = sameStages;
      everyone = all;
      return this;
    }

    /** Of the replicas' exchange, as of {@link DistributedDataParallel.Options}. */
    public Options bucketCapMb(double value) {
      bucketCapMb = value;
      return this;
    }

    public Options broadcastBuffers(boolean value) {
      broadcastBuffers = value;
      return this;
    }

    public Options findUnusedParameters(boolean value) {
      findUnusedParameters = value;
      return this;
    }

    public Options gradientAsBucketView(boolean value) {
      gradientAsBucketView = value;
      return this;
    }
  }

  private final NativePipeline handle;
  private final List<PipelineStage> stages;

  /**
   * All ranks of the group make it, with the stages that the schedule has on each. {@link TandemInvalidArgumentException}, on
   * all of them, naming the rank whose schedule, stages or parameters do not fit the others'.
   */
  public Pipeline(ProcessGroup group, List<PipelineStage> stages, Options options) {
    this.stages = List.copyOf(stages);
    OwnFunctions.StageTensors tensors = new OwnFunctions.StageTensors();
    Map<Integer, PipelineStage> byIndex = new HashMap<>();
    try (NativePipelineOptions natives = new NativePipelineOptions()) {
      natives.setSchedule(options.schedule);
      natives.setMicroBatches(options.microBatches);
      natives.setStagesPerRank(options.stagesPerRank);
      natives.setAverageLosses(options.averageLosses);
      natives.setBucketCapMb(options.bucketCapMb);
      natives.setBroadcastBuffers(options.broadcastBuffers);
      natives.setFindUnusedParameters(options.findUnusedParameters);
      natives.setGradientAsBucketView(options.gradientAsBucketView);
      natives.setFault(options.fault);
      for (PipelineStage stage : this.stages) {
        byIndex.put(stage.index, stage);
        add(tensors, stage);
        String fault = stage.fault();
        if (fault != null && options.fault.isEmpty()) {
          natives.setFault(fault); // the other ranks fail with it, too
        }
      }
      handle = OwnFunctions.pipeline(group.nativeHandle(), tensors, natives,
          options.replicas == null ? null : options.replicas.nativeHandle(),
          options.everyone == null ? null : options.everyone.nativeHandle(), options.loss != null,
          new OwnFunctions.MicroBatches() {
            @Override
            public Tensor[] compute(int stage, Tensor[] inputs) throws Exception {
              return byIndex.get(stage).forward().of(inputs);
            }

            @Override
            public Tensor loss(Tensor[] outputs, Tensor[] targets) {
              return options.loss.apply(outputs, targets);
            }
          });
    }
  }

  /** With the stages along one dimension of a mesh, and replicas along the other, where it has two. */
  public Pipeline(DeviceMesh mesh, String dimension, List<PipelineStage> stages, Options options) {
    this(mesh.group(known(mesh, dimension)), stages, along(mesh, dimension, options));
  }

  /** Who names a dimension that is not there tells the others. */
  private static String known(DeviceMesh mesh, String dimension) {
    return mesh.names().contains(dimension) ? dimension : mesh.names().get(0);
  }

  private static Options along(DeviceMesh mesh, String dimension, Options given) {
    Options options = given.copy();
    if (mesh.names().size() > 2 || mesh.size() != mesh.world().size()) {
      throw new TandemInvalidArgumentException("Pipeline", "a pipeline takes a mesh of all ranks with one or two dimensions; give "
          + "the groups of others by replicas()");
    }
    if (!mesh.names().contains(dimension)) {
      options.fault = "the device mesh has no dimension '" + dimension + "'; it has " + mesh.names();
      if (mesh.names().size() > 1) { // those of its pipeline wait in one of them
        mesh.names().forEach(name -> mesh.group(name).abort());
      }
    }
    for (String name : mesh.names()) {
      if (!name.equals(known(mesh, dimension))) {
        options.replicas(mesh.group(name), mesh.world());
      }
    }
    return options;
  }

  private static void add(OwnFunctions.StageTensors tensors, PipelineStage stage) {
    Collection<String> tied = stage.tied().values();
    stage.namedParameters().forEach(
        (name, tensor) -> tensors.addParameter(stage.index, name, tensor, tied.contains(name), false));
    stage.namedBuffers().forEach((name, tensor) -> tensors.addBuffer(stage.index, name, tensor, tied.contains(name)));
  }

  private NativePipeline nativeHandle() {
    if (handle.isClosed()) {
      throw new TandemClosedException("Pipeline", "the pipeline was closed before this call");
    }
    return handle;
  }

  /**
   * Forward and backward of a batch: adds to the gradients of the stages' parameters those of one process on the whole batch,
   * and gives its loss on all ranks, with replicas the mean of theirs. {@code inputs} are the first stage's, {@code targets} the
   * last one's; other ranks give none. Blocks.
   */
  public double step(Tensor[] inputs, Tensor[] targets) {
    return nativeHandle().step(Natives.of(Arrays.asList(inputs)), Natives.of(Arrays.asList(targets)));
  }

  /** The loss alone, without gradients. */
  public double evaluate(Tensor[] inputs, Tensor[] targets) {
    return nativeHandle().evaluate(Natives.of(Arrays.asList(inputs)), Natives.of(Arrays.asList(targets)));
  }

  /** Without gradients: on the rank of the last stage its outputs for the batch, elsewhere nothing. */
  public Tensor[] forward(Tensor... inputs) {
    return Natives.tensors(nativeHandle().forward(Natives.of(Arrays.asList(inputs))));
  }

  /**
   * Whether it is this rank that saves a parameter or buffer of its stages to a checkpoint, which then holds the whole model
   * under its own names: of a tied one the lowest stage's rank does, and of replicas the first.
   */
  public boolean saves(String name) {
    return nativeHandle().saves(name, false);
  }

  /** Modules and groups stay. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }
}
