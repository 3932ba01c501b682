#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/local_time.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/study_file.h"
#include "cli/text_output.h"
#include "cli/train_options_of.h"
#include "cli/version.h"
#include "models/recurrent/recurrent_config.h"
#include "report/progress_line.h"
#include "study/child_process.h"
#include "study/forecast.h"
#include "study/given.h"
#include "study/run.h"
#include "study/search_check.h"
#include "study/study_page.h"
#include "training/tasks.h"

namespace dragoman::cli {
namespace {

namespace fs = std::filesystem;
using study::Cell;
using study::Study;

struct StudyArguments {
  fs::path file;
  fs::path corpus = ".";
  fs::path folder;  // empty: studies/ and the name of the study
  std::vector<std::string> rows;
  std::vector<uint64_t> seeds;
  std::string baseline;  // empty: that of the file
  std::vector<std::string> changes;
  bool dry_run = false;
  double measure = 0.0;  // seconds

  fs::path study_folder(const Study& study) const {
    if (!folder.empty()) {
      return folder;
    }
    const bool is_older = base::path_exists(fs::path(study.name) / study::kFactsName);  // where studies went before
    return is_older ? fs::path(study.name) : fs::path("studies") / study.name;
  }
};

// Runs this program again, so that a command that is killed or out of memory ends alone. It is the same program to the
// end of the study, even if its file is replaced.
class ThisProgram {
 public:
  explicit ThisProgram(const base::StopSignals& signals)
      : signals_(signals), name_(fs::read_symlink(kSelf).string()), program_(::open(kSelf, O_RDONLY | O_CLOEXEC)) {
    base::check(program_.get() >= 0, base::ErrorKind::kRuntime, "study: cannot open {}: {}", kSelf,
                std::strerror(errno));
  }
  int operator()(std::vector<std::string> words, const fs::path& output) const {
    words.insert(words.begin(), name_);
    if (is_quiet()) {
      words.emplace_back("--quiet");
    }
    return study::run_child(program_, words, output, signals_);
  }

 private:
  static constexpr const char* kSelf = "/proc/self/exe";
  const base::StopSignals& signals_;
  std::string name_;
  base::FileDescriptor program_;
};

// Reads the options of trainings, and once each text whose lines have a form: a line without a label would be noticed
// when the training's turn comes.
class TrainingCheck {
 public:
  study::TrainingLimits operator()(const std::vector<std::string>& words, bool texts_are_there) {
    const training::TrainOptions options = train_options_of({words.begin() + 1, words.end()});
    if (texts_are_there && training::reads_lines(options) &&
        read_.insert({options.task, options.text, options.valid_text}).second) {
      [[maybe_unused]] const auto task = training::make_task(options);
    }
    const auto* recurrent = options.model.get_if<models::RecurrentConfig>();
    return {options.run.total_minutes, options.run.max_steps,
            recurrent == nullptr || recurrent->attention != models::RecurrentAttention::kNone};
  }

 private:
  std::set<std::tuple<std::string, std::vector<fs::path>, std::vector<fs::path>>> read_;  // by which task
};

// Seeds outside, so that the first comparisons come early.
std::vector<Cell> chosen_cells(const Study& study, const StudyArguments& arguments) {
  std::vector<Cell> cells;
  for (const uint64_t seed : arguments.seeds.empty() ? study.seeds : arguments.seeds) {
    for (const study::Row& row : study.rows) {
      if (arguments.rows.empty() || std::ranges::count(arguments.rows, row.name) > 0) {
        cells.push_back({&row, seed});
      }
    }
  }
  return cells;
}

std::vector<const study::Row*> rows_of(const std::vector<Cell>& cells) {
  std::vector<const study::Row*> rows;
  for (const Cell& cell : cells) {
    if (std::ranges::count(rows, cell.row) == 0) {
      rows.push_back(cell.row);
    }
  }
  return rows;
}

std::string duration(double minutes) {
  return std::isfinite(minutes) ? report::format_duration(60.0 * minutes) : "unknown";
}

study::UpdateSeconds measured(const Study& study, const study::Row& row, const StudyArguments& arguments,
                              const ThisProgram& program, const base::StopSignals& signals) {
  study::UpdateSeconds seconds;
  if (arguments.measure == 0.0) {
    return seconds;
  }
  const fs::path scratch = fs::temp_directory_path() / fmt::format("dragoman-study-{}", ::getpid());
  for (const study::Stage& stage : study.stages) {
    if (stage.kind != study::StageKind::kTrain || signals.requested()) {
      continue;
    }
    try {
      seconds[stage.name] = study::measure_update(study, row, stage, scratch, arguments.measure, std::cref(program));
    } catch (const study::CommandFailed& failed) {
      base::check(signals.requested(), base::ErrorKind::kRuntime,
                  "study {}: row {}, stage {}: status {} of: dragoman {}", study.name, row.name, stage.name,
                  failed.status, failed.words);
    }
  }
  return seconds;
}

int predict(const Study& study, const StudyArguments& arguments, const study::LimitsOf& limits_of) {
  const base::StopSignals signals;
  const ThisProgram program(signals);
  const std::vector<Cell> cells = chosen_cells(study, arguments);
  for (const std::string& absent : study::absent_files(study, rows_of(cells))) {  // another study may make it
    say_note("warning: " + absent);
  }
  TextOutput output("-");
  output.write("| row | runs | training of a run | of all runs |\n|---|---|---|---|\n");
  double all = 0.0;
  for (const study::Row& row : study.rows) {
    const auto runs = std::ranges::count(cells, &row, &Cell::row);
    if (runs > 0) {
      const double minutes =
          study::forecast(study, row, limits_of, measured(study, row, arguments, program, signals)).minutes;
      if (signals.requested()) {
        return signals.exit_status();
      }
      all += minutes * static_cast<double>(runs);
      output.write(fmt::format("| {} | {} | {} | {} |\n", row.name, runs, duration(minutes),
                               duration(minutes * static_cast<double>(runs))));
    }
  }
  output.write(fmt::format("| all | {} | | {} |\n\n", cells.size(), duration(all)));
  if (base::path_exists(arguments.study_folder(study) / study::kFactsName)) {
    output.write("Runs that are done are counted too. ");
  }
  output.write(std::isfinite(all) ? "Translating and scoring come on top; patience may end a training before.\n"
                                  : "The updates of a training are limited, not its minutes: --measure 30 trains each "
                                    "row for 30 seconds to predict its time.\n");
  return 0;
}

// Name, version and commit, the first line of what --version prints.
std::string program_name() {
  const std::string text = version_text();
  return text.substr(0, text.find('\n'));
}

void write_results(const Study& study, const study::StudyFolder& folder) {
  const study::StudyResults results = study::collect(study, folder);
  const report::StudyReport page = study::study_page(study, results, {program_name(), base::local_time("%Y-%m-%d")});
  base::write_file_atomic(folder.path() / "results.json", study::results_json(study, results));
  base::write_file_atomic(folder.path() / "report.html", report::render_study(page));
  base::write_file_atomic(folder.path() / "report.md", report::study_markdown(page));
}

// Whether a command has refused its options or files, and would again.
bool is_of_input(int status) {
  constexpr int kWrongWords = 64;  // EX_USAGE of sysexits.h
  return status == static_cast<int>(base::ErrorKind::kUsage) || status == kWrongWords ||
         status == static_cast<int>(base::ErrorKind::kBadData);
}

int run_study(const Study& study, const StudyArguments& arguments) {
  const std::vector<Cell> cells = chosen_cells(study, arguments);
  const std::vector<std::string> absent = study::absent_files(study, rows_of(cells));
  base::check_usage(absent.empty(), "{}", fmt::join(absent, "\n"));
  const base::StopSignals signals;
  const ThisProgram program(signals);
  const study::StudyFolder folder(study, arguments.study_folder(study));
  const auto tell = [](const std::string& text) { say_status(fmt::format("dragoman: study: {}\n", text)); };
  for (const Cell& cell : cells) {
    const bool was_done = study::is_done(study, folder, cell);
    const int status = study::run_cell(study, folder, cell, std::cref(program), tell);
    if (status != 0 || signals.requested()) {
      say(fmt::format("dragoman: study: stopped in {}; {}run the same command to go on\n", cell.name(),
                      is_of_input(status) ? "correct the option, file or text that the error names, then " : ""));
      return status != 0 ? status : signals.exit_status();
    }
    if (!was_done) {
      write_results(study, folder);
    }
  }
  write_results(study, folder);
  TextOutput("-").write(base::read_file(folder.path() / "report.md"));
  return 0;
}

int run(const StudyArguments& arguments) {
  Study study = read_study(arguments.file, arguments.corpus, arguments.changes);
  for (const std::string& row : arguments.rows) {
    [[maybe_unused]] const study::Row& known = study.row(row);
  }
  for (const uint64_t seed : arguments.seeds) {
    base::check_usage(std::ranges::count(arguments.seeds, seed) == 1, "--seeds names {} twice; give it once", seed);
    if (std::ranges::count(study.seeds, seed) == 0) {
      study.seeds.push_back(seed);
    }
  }
  if (!arguments.baseline.empty()) {
    study.baseline = study.row(arguments.baseline).name;
  }
  // What can be seen to be wrong is refused before the work.
  study::check_given(study);
  TrainingCheck check;
  const study::LimitsOf limits_of = std::ref(check);
  for (study::Row& row : study.rows) {
    [[maybe_unused]] const auto checked = study::forecast(study, row, limits_of, {});
    study::check_attention(study, row, limits_of);
    row.total_minutes = study::limits_of_stage(study, row, study.last_stage(), limits_of).total_minutes;
  }
  return arguments.dry_run ? predict(study, arguments, limits_of) : run_study(study, arguments);
}

}  // namespace

void add_study_command(CLI::App& app, Run& run_chosen) {
  const auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command =
      add_command(app, "study",
                  "Train many models that differ in named options, compare them, and write a report: one "
                  "command that can be interrupted at any time",
                  "dragoman study configs/studies/norms.yaml --corpus multi30k --dry-run\n"
                  "dragoman study configs/studies/norms.yaml --corpus multi30k --seeds 1,2,3");
  begin_group(*command, base::kMostUsed);
  command->add_option("file", arguments->file, "File of the study: rows, seeds, stages, texts")
      ->type_name("FILE")
      ->required();
  command->add_option("--corpus", arguments->corpus, "Folder of the texts that the file names")->type_name("DIR");
  command
      ->add_option("--folder", arguments->folder,
                   "Folder for models and reports; the same command resumes what it holds; not given: studies/ and the "
                   "name of the file")
      ->type_name("DIR");
  command->add_option("--rows", arguments->rows, "Rows to run, separated by commas; not given: all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_option("--seeds", arguments->seeds, "Seeds to run, separated by commas; not given: those of the file")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--baseline", arguments->baseline, "Row that others are compared with; not given: that of the file")
      ->type_name("NAME");
  command
      ->add_option(
          "--set", arguments->changes,
          "Change a variable of the file, an option of all trainings, or an option of a stage; may be repeated")
      ->type_name("[STAGE.]NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", arguments->dry_run,
                    "Check the file and predict the time of its trainings; train nothing");
  command
      ->add_option(
          "--measure", arguments->measure,
          "With --dry-run: train each row for so many seconds, to predict the time of trainings that end after "
          "a number of updates")
      ->type_name("SECONDS");
  command->callback([arguments, &run_chosen] {
    base::check_usage(arguments->measure >= 0.0, "--measure is {}, must be 0 or more", arguments->measure);
    base::check_usage(arguments->measure == 0.0 || arguments->dry_run, "--measure goes with --dry-run");
    run_chosen = [arguments] { return run(*arguments); };
  });
}

}  // namespace dragoman::cli
