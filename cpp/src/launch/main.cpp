// The command-line tool `tandem`.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "data/tool/record_commands.h"
#include "launch/agent_setup.h"
#include "launch/doctor/doctor_command.h"
#include "launch/failure.h"
#include "launch/run_command.h"
#include "launch/tool_pages.h"
#include "launch/top_command.h"
#include "trace/tool/trace_commands.h"

int main(int argc, char** argv) {
  CLI::App app("Trains PyTorch models in parallel, from any language", "tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  int exit_code = 0;
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"run", tandem::launch::kAgentSetupFlag}) {
      arguments = tandem::launch::take_agent_setup(STDIN_FILENO);
    }
    tandem::launch::add_run_command(app, &exit_code, arguments);
    tandem::launch::add_top_command(app);
    tandem::add_record_commands(app);
    tandem::add_trace_commands(app);
    tandem::doctor::add_doctor_command(app, TANDEM_VERSION, &exit_code);
    tandem::launch::add_page_commands(app);
    app.parse(tandem::launch::arguments_for_parser(arguments));
    if (app.get_subcommands().empty()) std::fputs(app.help().c_str(), stdout);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "tandem: %s (see tandem --help)\n", error.what());
    return 1;
  } catch (const tandem::launch::Failure& failure) {
    std::fprintf(stderr, "tandem: %s\n", failure.what());
    return failure.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tandem: %s\n", error.what());
    return 1;
  }
}
