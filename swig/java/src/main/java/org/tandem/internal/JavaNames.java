package org.tandem.internal;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Java's names for what errors of the C ABI, of LibTorch and of generated code speak of. */
final class JavaNames {
  /** C functions, a line for each class: "class: function=method …"; without a class the method is all of the name. */
  private static final String[] FUNCTIONS = {
      "Tandem: load=load shutdown=shutdown version=version libtorch_version=libtorchVersion"
          + " cuda_device_count=cudaDeviceCount live_count=liveCount tensor_live_bytes=tensorLiveBytes"
          + " manual_seed=manualSeed set_num_threads=setNumThreads get_num_threads=numThreads"
          + " set_grad_enabled=noGrad profiler_start=startProfiler profiler_stop=stopProfiler",
      "Tensor: tensor_from_data=of tensor_data=memory tensor_copy_to=copyTo tensor_copy_from=copyFrom"
          + " tensor_item_double=item tensor_item_int64=itemLong tensor_to_string=toString tensor_sizes=sizes"
          + " tensor_strides=strides tensor_grad=grad tensor_set_grad=setGrad tensor_set_requires_grad=requiresGrad"
          + " tensor_is_same=isSame tensor_share=detach tensor_free=close autograd_backward=backward",
      "Scope: scope_enter=open scope_exit=close scope_keep=keep",
      "Operator: op_find=find op_call=call op_schema=schema", "TorchModule: module_create= module_types=types",
      "Module: module_forward=forward module_named_parameters=namedParameters module_named_buffers=namedBuffers"
          + " module_train=train module_to=to module_free=close",
      "Optimizer: optimizer_create= optimizer_step=step optimizer_zero_grad=zeroGrad"
          + " optimizer_add_group=addGroup optimizer_group_count=groupCount optimizer_set_option=set"
          + " optimizer_get_option=getDouble optimizer_state=stateDict optimizer_load_state=loadStateDict"
          + " optimizer_free=close",
      "Safetensors: safetensors_save=save safetensors_load=load",
      "Store: store_tcp= store_file=file store_hash=hash store_prefix=prefix store_port=port store_set=set"
          + " store_get=get store_add=add store_check=check store_delete=delete store_wait=waitFor"
          + " store_compare_set=compareSet store_set_timeout=setTimeout store_free=close",
      "ProcessGroup: process_group_create=init process_group_abort=abort process_group_free=close"
          + " broadcast=broadcast all_reduce=allReduce reduce=reduce all_gather=allGather barrier=barrier",
      "Work: work_wait=await work_is_completed=isCompleted work_free=close",
      "DistributedDataParallel: ddp_create= ddp_prepare_forward=forward ddp_prepare_backward=forward"
          + " ddp_set_require_backward_grad_sync=noSync ddp_free=close",
      "Dataset: dataset_create=of dataset_from_iterable=of dataset_from_records=ofRecords"
          + " dataset_from_schema=ofSchema dataset_from_tensors=ofTensors dataset_concat=concat dataset_get=get"
          + " dataset_map=map dataset_random_split=randomSplit dataset_split_sizes=randomSplit dataset_subset=subset"
          + " dataset_size=size dataset_free=close",
      "RecordIOWriter: recordio_writer_create= recordio_writer_write=write recordio_writer_close=finish",
      "RecordIOReader: recordio_reader_create= recordio_reader_get=get recordio_reader_count=count",
      "Mnist: mnist_to_recordio=toRecordIO",
      "Loader: loader_create= loader_create_from= loader_add_transforms=addTransforms loader_start_epoch=epoch"
          + " loader_next=epoch loader_get_batch=epoch loader_commit=commit loader_get_state=state"
          + " loader_restore=restore loader_current_epoch=currentEpoch loader_statistics_text=statistics"
          + " loader_batch_count=batchCount loader_sample_count=sampleCount loader_free=close",
      "Loader.Batch: loader_get_batch_mask=mask",
      "DynamicLoader: dynamic_loader_create=join dynamic_loader_replay=replay"
          + " dynamic_loader_add_transforms=addTransforms dynamic_loader_next_step=nextStep"
          + " dynamic_loader_next=nextPart dynamic_loader_get_part=nextPart dynamic_loader_fail=fail"
          + " dynamic_loader_commit=commit dynamic_loader_abort=abort dynamic_loader_get_state=state"
          + " dynamic_loader_get_quarantine=quarantine dynamic_loader_statistics_text=statistics"
          + " dynamic_loader_epoch=epoch dynamic_loader_step=step dynamic_loader_local_count=localCount"
          + " dynamic_loader_global_count=globalCount dynamic_loader_free=close"};

  /** C types. Of enums, the names of their numbers follow from them: tdm_dtype, TDM_DTYPE_BOOL, TDM_DTYPE. */
  private static final Map<String, String> TYPES =
      Map.ofEntries(Map.entry("dtype", "DType"), Map.entry("device", "Device.Type"), Map.entry("error", "ErrorCode"),
          Map.entry("reduce_op", "ReduceOp"), Map.entry("tail", "Tail"), Map.entry("on_io_error", "OnIoError"),
          Map.entry("memory_format", "Operator.MemoryFormat"), Map.entry("load_device", "Tandem.LoadDevice"),
          Map.entry("compressor", "RecordIOWriter.Compressor"), Map.entry("value", "an operator's result"),
          Map.entry("tensor", "Tensor"), Map.entry("store", "Store"), Map.entry("process_group", "ProcessGroup"),
          Map.entry("work", "Work"), Map.entry("ddp", "DistributedDataParallel"), Map.entry("module", "Module"),
          Map.entry("optimizer", "Optimizer"), Map.entry("dataset", "Dataset"), Map.entry("loader", "Loader"),
          Map.entry("dynamic_loader", "DynamicLoader"), Map.entry("op", "Operator"),
          Map.entry("all_groups", "Optimizer.ALL_GROUPS"),
          Map.entry("load_options.libtorch", "the first argument of Tandem.load()"));

  /** Operations of the C++ in between. */
  private static final Map<String, String> OPERATIONS = Map.of("backward", "Tensor.backward", "Ddp",
      "DistributedDataParallel", "Optimizer::load_state", "Optimizer.loadStateDict", "Optimizer::get_option",
      "Optimizer.learningRate", "Results", "Operator.callAll");

  /** What LibTorch says to Python's programs. What is quoted so is Java's, or PyTorch's name of a thing that Java lacks. */
  private static final Map<String, String> PYTHON = Map.of("Specify retain_graph=True", "Call backward(true)",
      "the keyword argument ", "", "torch.nn.parallel.DistributedDataParallel", "DistributedDataParallel",
      "_set_static_graph()", "DistributedDataParallel.Options.staticGraph(true)", ".backward() or autograd.grad()",
      "backward()");

  private static final Map<String, String> METHODS = methods();
  // Not in paths and quoted names, nor where a library lacks one.
  private static final Pattern FUNCTION = Pattern.compile("(?<![\\w/.'-])(?<!lacks )tdm_([a-z0-9_]+(?:\\.[a-z]+)?)(\\(\\))?");
  private static final Pattern CONSTANT = Pattern.compile("TDM_([A-Z0-9_]*[A-Z0-9])");
  private static final Pattern KEYWORD = Pattern.compile("\\b([a-z]+(?:_[a-z]+)*)=(True|False)\\b");
  private static final Pattern OPTION = Pattern.compile("\\boptions->([a-z0-9_]+)");
  private static final Pattern GENERATED = Pattern.compile("(?:new_|delete_)?Native([A-Za-z]+?)(?:_([A-Za-z]+))?");

  private JavaNames() {}

  private static Map<String, String> methods() {
    Map<String, String> methods = new HashMap<>();
    for (String line : FUNCTIONS) {
      String[] words = line.split(":? ");
      for (int i = 1; i < words.length; i++) {
        String[] pair = words[i].split("=", -1);
        methods.put(pair[0], pair[1].isEmpty() ? words[0] : words[0] + '.' + pair[1]);
      }
    }
    return methods;
  }

  /** "Store.get" for "tdm_store_get" and for "NativeStore_get". */
  static String operation(String operation) {
    if (operation.startsWith("tdm_")) {
      return METHODS.getOrDefault(operation.substring("tdm_".length()), operation);
    }
    Matcher generated = GENERATED.matcher(operation);
    if (generated.matches()) {
      String type = generated.group(1).equals("Ddp") ? "DistributedDataParallel" : generated.group(1);
      return generated.group(2) == null ? type : type + '.' + generated.group(2);
    }
    String known = OPERATIONS.get(operation);
    if (known == null && operation.contains("::")) {
      int method = operation.indexOf("::");
      known = operation.substring(0, method) + '.' + camel(operation.substring(method + 2));
    }
    return known == null ? operation : known;
  }

  /** What has no name in Java keeps C's. */
  static String message(String message) {
    String text = message;
    if (text.contains("tdm_")) {
      text = FUNCTION.matcher(text).replaceAll(JavaNames::function);
    }
    if (text.contains("TDM_")) {
      text = CONSTANT.matcher(text).replaceAll(JavaNames::constant);
    }
    if (text.contains("options->")) {
      text = OPTION.matcher(text).replaceAll(match -> "option '" + camel(match.group(1)) + "'");
    }
    for (Map.Entry<String, String> phrase : PYTHON.entrySet()) {
      text = text.replace(phrase.getKey(), phrase.getValue());
    }
    if (text.contains("=True") || text.contains("=False")) {
      text = KEYWORD.matcher(text).replaceAll(
          match -> camel(match.group(1)) + (match.group(2).equals("True") ? "(true)" : "(false)"));
    }
    return text.endsWith(" is NULL") ? text.substring(0, text.length() - "NULL".length()) + "null" : text;
  }

  private static String function(MatchResult match) {
    String method = METHODS.get(match.group(1));
    if (method != null) {
      return Matcher.quoteReplacement(match.group(2) == null || method.indexOf('.') < 0 ? method : method + "()");
    }
    return Matcher.quoteReplacement(
        match.group(2) == null ? TYPES.getOrDefault(match.group(1), match.group()) : match.group());
  }

  /** The longest type that the name begins with. */
  private static String constant(MatchResult match) {
    String name = match.group(1);
    for (int end = name.length(); end > 0; end = name.lastIndexOf('_', end - 1)) {
      String type = TYPES.get(name.substring(0, end).toLowerCase(java.util.Locale.ROOT));
      if (type != null) {
        String number = end == name.length() ? "" : '.' + name.substring(end + 1);
        return Matcher.quoteReplacement(type + number);
      }
    }
    return Matcher.quoteReplacement(match.group());
  }

  private static String camel(String words) {
    StringBuilder camel = new StringBuilder();
    for (String word : words.split("_")) {
      camel.append(camel.length() == 0 || word.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
    }
    return camel.toString();
  }
}
