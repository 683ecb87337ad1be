#include "launch/tool_pages.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "launch/failure.h"

namespace tandem::launch {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->nonpositional() && !option->get_group().empty(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}

// `visit` is called for the tool and for each command below it, with its whole name: "tandem record cat".
template <class Visit>
void walk(const CLI::App& app, const std::string& name, const Visit& visit) {
  visit(app, name);
  for (const CLI::App* command : commands_of(app)) walk(*command, name + " " + command->get_name(), visit);
}

// ------------------------------------------------------------------------------------------------------- completion

// zsh reads it through bashcompinit.
std::string bash_script(const CLI::App& app) {
  std::string commands, words;
  walk(app, "tandem", [&](const CLI::App& command, const std::string& name) {
    std::string list;
    for (const CLI::App* below : commands_of(command)) list += below->get_name() + " ";
    for (const CLI::Option* flag : flags_of(command)) {
      for (const std::string& spelling : spellings(*flag)) list += spelling + " ";
    }
    if (&command != &app) commands += (commands.empty() ? "" : "|") + ("\"" + name + "\"");
    words += "    \"" + name + "\") words=\"" + list + "\" ;;\n";
  });
  return "_tandem() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" command=tandem word words=\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in " +
         commands +
         ") command=\"$command $word\" ;; esac\n"
         "  done\n"
         "  case \"$command\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=()\n"
         // A program's name comes where a command takes no further one.
         "  if [[ $current == -* || $words == [a-z]* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); "
         "fi\n"
         "}\n"
         "complete -o default -F _tandem tandem\n";
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("\\'") : c == '\\' ? "\\\\" : std::string(1, c);
  return result + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string script =
      "function __tandem_command\n  commandline -opc | string match -v -- '-*' | string join ' '\nend\n";
  walk(app, "tandem", [&](const CLI::App& command, const std::string& name) {
    // What the tool itself takes comes before a command.
    const std::string condition = &command == &app ? "test (__tandem_command) = tandem"
                                                   : "string match -q -r -- '^" + name + "\\b' (__tandem_command)";
    for (const CLI::App* below : commands_of(command)) {
      script += "complete -c tandem -f -n " + quoted("test (__tandem_command) = '" + name + "'") + " -a " +
                below->get_name() + " -d " + quoted(below->get_description()) + "\n";
    }
    for (const CLI::Option* flag : flags_of(command)) {
      script += "complete -c tandem -n " + quoted(condition);
      for (const std::string& letter : flag->get_snames()) script += " -s " + letter;
      for (const std::string& word : flag->get_lnames()) script += " -l " + word;
      script += std::string(flag->get_items_expected_max() > 0 ? " -r" : "") + " -d " +
                quoted(flag->get_description()) + "\n";
    }
  });
  return script;
}

// ------------------------------------------------------------------------------------------------------ manual page

// Text that troff leaves as it is.
std::string plain(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string flag_lines(const CLI::App& command) {
  std::string lines;
  for (const CLI::Option* flag : flags_of(command)) {
    std::string names;
    for (const std::string& spelling : spellings(*flag)) names += (names.empty() ? "" : ", ") + spelling;
    lines += ".TP\n\\fB" + plain(names) + "\\fR\n" + plain(flag->get_description());
    if (!flag->get_envname().empty()) lines += "; also from " + plain(flag->get_envname());
    lines += "\n";
  }
  return lines;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" + bash_script(app);
  if (shell == "fish") return fish_script(app);
  throw Failure("tandem completion knows bash, zsh and fish, and not '" + shell + "'");
}

std::string manual_page(const CLI::App& app) {
  std::string page = ".TH TANDEM 1 \"\" \"" + plain(app.version()) + "\"\n.SH NAME\ntandem \\- " +
                     plain(app.get_description()) + "\n.SH SYNOPSIS\n";
  std::string sections;
  walk(app, "tandem", [&](const CLI::App& command, const std::string& name) {
    if (&command == &app) {
      sections += ".SH OPTIONS\n" + flag_lines(command) + ".SH COMMANDS\n";
      return;
    }
    if (commands_of(command).empty()) page += ".B " + plain(name) + "\n[options] ...\n.br\n";
    sections += ".SS " + plain(name) + "\n" + plain(command.get_description()) + "\n" + flag_lines(command);
    if (!command.get_footer().empty()) sections += ".PP\n" + plain(command.get_footer()) + "\n";
  });
  return page + sections;
}

void add_page_commands(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "Print a script that completes tandem's commands and flags");
  completion->add_option("shell", *shell, "bash, zsh or fish")->required();
  completion->footer("source <(tandem completion bash)");
  completion->callback([&app, shell] { std::fputs(completion_script(app, *shell).c_str(), stdout); });
  app.add_subcommand("man", "Print the manual page, for man -l -")->callback([&app] {
    std::fputs(manual_page(app).c_str(), stdout);
  });
}

}  // namespace tandem::launch
