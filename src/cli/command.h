#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace dragoman::cli {

/// What the chosen command does once the whole command line is parsed; returns the exit status.
using Run = std::function<int()>;

/// Each adds one sub-command with its options to `app`; when the command line chooses it, `run` is set.
/// One file a command: translate_command.cpp holds add_translate_command.
void add_train_command(CLI::App& app, Run& run);
void add_translate_command(CLI::App& app, Run& run);
void add_generate_command(CLI::App& app, Run& run);
void add_evaluate_command(CLI::App& app, Run& run);
void add_embed_command(CLI::App& app, Run& run);
void add_classify_command(CLI::App& app, Run& run);
void add_tag_command(CLI::App& app, Run& run);
void add_fill_mask_command(CLI::App& app, Run& run);
void add_score_command(CLI::App& app, Run& run);
void add_attention_command(CLI::App& app, Run& run);
void add_average_command(CLI::App& app, Run& run);
void add_tune_command(CLI::App& app, Run& run);
void add_inspect_command(CLI::App& app, Run& run);
void add_vocab_command(CLI::App& app, Run& run);
void add_sample_corpus_command(CLI::App& app, Run& run);
void add_demo_command(CLI::App& app, Run& run);
void add_import_command(CLI::App& app, Run& run);
void add_export_command(CLI::App& app, Run& run);
void add_quantize_command(CLI::App& app, Run& run);
void add_serve_command(CLI::App& app, Run& run);
void add_shortlist_command(CLI::App& app, Run& run);
void add_study_command(CLI::App& app, Run& run);
void add_watch_command(CLI::App& app, Run& run);
void add_info_command(CLI::App& app, Run& run);
void add_benchmark_command(CLI::App& app, Run& run);
void add_help_command(CLI::App& app, Run& run);
void add_completion_command(CLI::App& app, Run& run);
void add_man_command(CLI::App& app, Run& run);

/// A sub-command that also reads its options from --config FILE.yaml, under the same names; an unknown key is an
/// error that suggests a near one. Flags given on the command line win. The sub-command also has --quiet.
/// @param example  one command line, or several lines of them, for --help and the manual
CLI::App* add_command(CLI::App& app, const char* name, const char* description, const char* example);

/// Puts the options that are added from here on under a title of --help. Those of fields stand under the title that the
/// table of their fields says.
void begin_group(CLI::App& command, const char* title);

}  // namespace dragoman::cli
