package org.tandem.internal;

import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Java's names for what errors of the C ABI, of LibTorch and of generated code speak of. */
final class JavaNames {
  /** Operations of the C++ in between. */
  private static final Map<String, String> OPERATIONS = Map.of("backward", "Tensor.backward", "Ddp",
      "DistributedDataParallel", "Optimizer::get_option",
      "Optimizer.learningRate", "LrScheduler::load_state", "Scheduler.loadStateDict", "AveragedParameters::load_state",
      "Averages.loadStateDict", "Results", "Operator.callAll", "DynamicLoader::next", "DynamicLoader.nextPart");

  /** Types of the C++ in between whose names are others. */
  private static final Map<String, String> TYPES =
      Map.of("Ddp", "DistributedDataParallel", "LrScheduler", "Scheduler", "AveragedParameters", "Averages");

  /** What methods of another name call. */
  private static final Map<String, String> CALLED = Map.ofEntries(Map.entry("Loader.next", "Loader.epoch"),
      Map.entry("Loader.samples", "Loader.epoch"), Map.entry("Loader.globalCount", "Loader.epoch"),
      Map.entry("Loader.skipped", "Loader.epoch"), Map.entry("Loader.startEpoch", "Loader.epoch"),
      Map.entry("DynamicLoader.next", "DynamicLoader.nextPart"),
      Map.entry("DynamicLoader.samples", "DynamicLoader.nextPart"),
      Map.entry("DynamicLoader.stepSize", "DynamicLoader.nextPart"),
      Map.entry("DynamicLoader.skipped", "DynamicLoader.nextPart"),
      Map.entry("Elastic.commit", "Job.commit"), Map.entry("Elastic.committed", "Elastic.run"),
      Map.entry("Elastic.meet", "Elastic.run"), Map.entry("Elastic.step", "Job.step"),
      Map.entry("Elastic.epoch", "Job.epoch"), Map.entry("Elastic.steps", "Job.steps"),
      Map.entry("Elastic.hasEnded", "Elastic.run"), Map.entry("Elastic.done", "Elastic.run"),
      Map.entry("Elastic.left", "Elastic.run"), Map.entry("Elastic.hasLeft", "Elastic.run"),
      Map.entry("Elastic.leaveOnSignal", "Elastic"), Map.entry("Elastic.describe", "Job.describe"),
      Map.entry("DistributedDataParallel.prepareForward", "DistributedDataParallel.forward"),
      Map.entry("DistributedDataParallel.prepareBackward", "DistributedDataParallel.forward"),
      Map.entry("DistributedDataParallel.setRequireBackwardGradSync", "DistributedDataParallel.noSync"));

  /** C has one loader for both of Java's; {@link NameTable} has the other's methods. */
  private static final Map<String, String> OF_DYNAMIC_LOADERS = Map.of("tdm_loader_abort", "DynamicLoader.abort",
      "tdm_loader_add_transforms", "DynamicLoader.addTransforms", "tdm_loader_commit", "DynamicLoader.commit",
      "tdm_loader_current_epoch", "DynamicLoader.epoch", "tdm_loader_free", "DynamicLoader.close", "tdm_loader_get_batch",
      "DynamicLoader.nextPart", "tdm_loader_get_state", "DynamicLoader.state", "tdm_loader_next", "DynamicLoader.nextPart",
      "tdm_loader_statistics_text", "DynamicLoader.statistics");

  /** What LibTorch says to Python's programs. What is quoted so is Java's, or PyTorch's name of a thing that Java lacks. */
  private static final Map<String, String> PYTHON = Map.of("Specify retain_graph=True", "Call backward(true)",
      "the keyword argument ", "", "torch.nn.parallel.DistributedDataParallel", "DistributedDataParallel",
      "_set_static_graph()", "DistributedDataParallel.Options.staticGraph(true)", ".backward() or autograd.grad()",
      "backward()");

  private static final Map<String, String> METHODS = table(NameTable.FUNCTIONS);
  private static final Map<String, String> OTHERS = table(NameTable.OTHERS);
  // Not in paths and quoted names, nor where a library lacks one.
  private static final Pattern FUNCTION = Pattern.compile("(?<![\\w/.'-])(?<!lacks )(tdm_[a-z0-9_]+(?:\\.[a-z]+)?)(\\(\\))?");
  private static final Pattern CONSTANT = Pattern.compile("TDM_[A-Z0-9_]*[A-Z0-9]");
  private static final Pattern KEYWORD = Pattern.compile("\\b([a-z]+(?:_[a-z]+)*)=(True|False)\\b");
  private static final Pattern OPTION = Pattern.compile("\\boptions->([a-z0-9_]+)");
  private static final Pattern GENERATED = Pattern.compile("(?:new_|delete_)?Native([A-Za-z]+?)(?:_([A-Za-z]+))?");

  private JavaNames() {}

  private static Map<String, String> table(String lines) {
    return lines.lines().map(line -> line.split(" ", 2)).collect(Collectors.toUnmodifiableMap(l -> l[0], l -> l[1]));
  }

  /** "Store.get" for "tdm_store_get" and for "NativeStore_get". */
  static String operation(String operation) {
    if (operation.startsWith("tdm_")) {
      return METHODS.getOrDefault(operation, operation);
    }
    Matcher generated = GENERATED.matcher(operation);
    if (generated.matches()) {
      String type = TYPES.getOrDefault(generated.group(1), generated.group(1));
      String method = generated.group(2) == null ? type : type + '.' + generated.group(2);
      return CALLED.getOrDefault(method, method);
    }
    String known = OPERATIONS.get(operation);
    if (known == null && operation.contains("::")) {
      int method = operation.indexOf("::");
      known = operation.substring(0, method) + '.' + camel(operation.substring(method + 2));
    }
    return known == null ? operation : known;
  }

  /** Of that operation, by its name in Java. What has no name in Java keeps C's. */
  static String message(String message, String operation) {
    String text = message;
    if (text.contains("tdm_")) {
      Map<String, String> own = operation.startsWith("DynamicLoader") ? OF_DYNAMIC_LOADERS : Map.of();
      text = FUNCTION.matcher(text).replaceAll(match -> function(match, own));
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

  private static String function(MatchResult match, Map<String, String> own) {
    String method = own.getOrDefault(match.group(1), METHODS.get(match.group(1)));
    if (method != null) {
      return Matcher.quoteReplacement(match.group(2) == null || method.indexOf('.') < 0 ? method : method + "()");
    }
    return Matcher.quoteReplacement(
        match.group(2) == null ? OTHERS.getOrDefault(match.group(1), match.group()) : match.group());
  }

  /** The longest type that the name begins with. */
  private static String constant(MatchResult match) {
    String name = match.group();
    for (int end = name.length(); end > 0; end = name.lastIndexOf('_', end - 1)) {
      String type = OTHERS.get(name.substring(0, end));
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
