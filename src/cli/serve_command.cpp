#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/search_flags.h"
#include "cli/text_output.h"
#include "serving/serve.h"

namespace dragoman::cli {
namespace {

constexpr double kLeastSeconds = 0.1;
constexpr double kMostSeconds = 3600.0;
constexpr double kMostConnections = 100'000;
constexpr double kMostTexts = 100'000;
constexpr double kMostCharacters = 1'000'000;

struct ServeArguments {
  std::vector<std::string> models;
  serving::ServeOptions options;
  int64_t batch_tokens = decoding::ExecutionOptions().batch_tokens;
  int workers = 0;
  int threads_per_worker = 0;
  std::string device = "cpu";
  double longest_wait = 2.0;
  double request_time = 30.0;
  double drain_time = 30.0;
  bool whole_lines = false;
  std::unique_ptr<SearchFlags> flags;
  std::vector<CLI::Option*> search_flags;  // those of `flags`

  // What can be seen to be wrong without the models is refused before they are read.
  void finish() {
    base::check_range("longest_wait", longest_wait, 0.0, kMostSeconds);
    base::check_range("request_time", request_time, kLeastSeconds, kMostSeconds);
    base::check_range("drain_time", drain_time, 0.0, kMostSeconds);
    base::check_range("max_connections", static_cast<double>(options.http.connections), 1, kMostConnections);
    base::check_range("max_texts", static_cast<double>(options.texts.texts), 1, kMostTexts);
    base::check_range("max_characters", static_cast<double>(options.texts.characters), 1, kMostCharacters);
    for (const std::string& text : models) {
      options.load.models.push_back(serving::model_spec_from(text));
    }
    options.load.search = [this](const decoding::SearchOptions& defaults) {
      decoding::SearchOptions search = flags->over(defaults);
      search.execution.batch_tokens = batch_tokens;
      return search;
    };
    const auto given = std::ranges::find_if(search_flags, [](const CLI::Option* flag) { return flag->count() > 0; });
    options.load.search_flag = given == search_flags.end() ? std::string() : (*given)->get_name();
    options.load.threads = {workers, std::max(threads_per_worker, 1)};
    const auto milliseconds = [](double seconds) {
      return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    };
    options.longest_wait = std::chrono::duration<double>(longest_wait);
    options.request_time = milliseconds(request_time);
    options.drain_time = milliseconds(drain_time);
    options.texts.sentences = whole_lines ? serving::Sentences::kTogether : serving::Sentences::kApart;
    options.say = [](const std::string& line) {
      const std::time_t now = std::time(nullptr);
      say(fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(now), line));
    };
    decoding::SearchOptions search = options.load.search({});
    search.execution.workers = workers;
    search.execution.threads_per_worker = threads_per_worker;
    search.check();
  }
};

void add_models_and_address(CLI::App& command, ServeArguments& arguments) {
  begin_group(command, base::kMostUsed);
  command
      .add_option("-m,--model", arguments.models,
                  "Model folder; once for each pair of languages, language model and encoder. en:de=DIR names the "
                  "languages of one that does not know them")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->required();
  serving::Listen& listen = arguments.options.listen;
  command.add_option("--host", listen.host, "Address to listen at; 0.0.0.0 = every one of this machine");
  command.add_option("--port", listen.port, "Port to listen at; 0 = one that is free");
}

void add_access(CLI::App& command, serving::ServeOptions& options) {
  begin_group(command, "Addresses and access");
  command.add_flag("--share-port", options.listen.share_port,
                   "Let other servers of this user that say so too listen at the same port: a new one can start before "
                   "the old one ends");
  command
      .add_option("--api-keys", options.api_keys,
                  "File of the keys that open the server: SHA-256, name, requests and characters a minute; without it "
                  "no key is needed")
      ->type_name("FILE");
  command.add_flag("--allow-other-origins", options.allow_other_origins,
                   "Let web pages from elsewhere use the server (CORS)");
}

void add_limits(CLI::App& command, ServeArguments& arguments) {
  serving::ServeOptions& options = arguments.options;
  begin_group(command, "Limits");
  command.add_option("--longest-wait", arguments.longest_wait,
                     "Seconds of work that may wait; what would come behind is refused with 503");
  command.add_option("--request-time", arguments.request_time, "Seconds a request may take");
  command.add_option("--drain-time", arguments.drain_time,
                     "Seconds for requests under way when the server is told to end");
  command.add_option("--max-connections", options.http.connections, "Connections open at a time");
  command.add_option("--max-texts", options.texts.texts, "Texts in one request");
  command.add_option("--max-characters", options.texts.characters, "Characters of one text");
}

void add_texts(CLI::App& command, ServeArguments& arguments) {
  begin_group(command, "Texts");
  command.add_flag("--whole-lines", arguments.whole_lines,
                   "Translate each line as one, for models that learned from lines of several sentences; else its "
                   "sentences are translated apart");
  command
      .add_option("--glossaries", arguments.options.glossaries,
                  "Folder in which the server keeps the glossaries of DeepL's interface; made if it does not exist. "
                  "Without it glossaries are refused")
      ->type_name("DIR");
}

void add_search(CLI::App& command, ServeArguments& arguments) {
  const size_t before = command.get_options().size();
  arguments.flags = std::make_unique<SearchFlags>(command);
  const std::vector<CLI::Option*> all = command.get_options([](const CLI::Option*) { return true; });
  arguments.search_flags.assign(all.begin() + static_cast<ptrdiff_t>(before), all.end());
}

}  // namespace

void add_serve_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App& command =
      *add_command(app, "serve", "Serve models over HTTP: LibreTranslate, DeepL and OpenAI interfaces, a web page",
                   "dragoman serve --model my-model --port 5000");
  add_models_and_address(command, *arguments);
  add_access(command, arguments->options);
  add_limits(command, *arguments);
  add_texts(command, *arguments);
  add_search(command, *arguments);
  add_speed_flags(command, arguments->batch_tokens, arguments->workers);
  add_team_flag(command, arguments->threads_per_worker);
  add_precision_flag(command, arguments->options.load.precision);
  add_device_flag(command, arguments->device);
  command.callback([arguments, &run] {
    arguments->finish();
    run = [arguments] {
      const DeviceChoice device(arguments->device);
      serving::serve(arguments->options);
      return 0;
    };
  });
}

}  // namespace dragoman::cli
