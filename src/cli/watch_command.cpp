#include <fmt/core.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/text_output.h"
#include "serving/watch.h"

namespace dragoman::cli {
namespace {

int watch(const serving::WatchOptions& options) {
  base::check_usage(std::filesystem::is_directory(options.folder),
                    "watch: {} is no folder; give the --model folder of a training run", options.folder.string());
  serving::watch(options, [](const std::string& address) { say(fmt::format("watching at {}\n", address)); });
  return 0;
}

}  // namespace

void add_watch_command(CLI::App& app, Run& run) {
  const auto options = std::make_shared<serving::WatchOptions>();
  CLI::App* command = add_command(
      app, "watch", "Show a training run in the browser, while it trains or afterwards: curves, samples, attention",
      "dragoman watch --model my-model");
  command->add_option("-m,--model", options->folder, "Model folder of the run")->type_name("DIR")->required();
  command->add_option("--host", options->listen.host, "Address to listen at; 0.0.0.0 = every one of this machine");
  command->add_option("--port", options->listen.port, "Port to listen at; 0 = one that is free");
  command->callback([options, &run] { run = [options] { return watch(*options); }; });
}

}  // namespace dragoman::cli
