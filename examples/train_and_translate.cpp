// Trains a small Transformer on a generated corpus, translates with it, and scores the translations.
//   train_and_translate [FOLDER] [STEPS]        (default: train_and_translate.out, 400)
// The same command again finds the model trained and goes straight to translating.
#include <fmt/core.h>

#include <iostream>

#include "dragoman/data/sample/sample_corpus.h"
#include "dragoman/data/text/text_file.h"
#include "dragoman/decoding/load_translator.h"
#include "dragoman/evaluation/evaluate.h"
#include "dragoman/training/presets.h"
#include "dragoman/training/trainer.h"

using namespace dragoman;

int main(int argc, char** argv) try {
  const std::filesystem::path folder = argc > 1 ? argv[1] : "train_and_translate.out";

  // 1. Text: English sentences whose "it" must become er, sie or es in German.
  data::write_sample_corpus({.size = 4000, .output = folder / "corpus"});
  const auto text = [&](const char* name) { return folder / "corpus" / name; };

  // 2. A recipe: the preset for small data, made smaller still.
  training::TrainOptions options = training::preset_options("tiny-prenorm");
  options.source = {text("train.en")};
  options.target = {text("train.de")};
  options.valid_source = {text("valid.en")};
  options.valid_target = {text("valid.de")};
  options.model_folder = folder / "model";
  options.model = options.model.with<models::TransformerConfig>(
      [](auto& shape) { shape.encoder_layers = shape.decoder_layers = 2, shape.dropout = 0.0F; });
  options.vocabulary.size = 1000;
  options.schedule.learning_rate = 2e-3;
  options.schedule.warmup_steps = 100;
  options.batch.batch_tokens = 2400;
  options.run.max_steps = argc > 2 ? std::stoll(argv[2]) : 400;

  // 3. Train. The folder holds the best model so far at any time, and report.html.
  training::Trainer(options, std::cerr).run();

  // 4. Translate, with the search that is the default: a beam of 4.
  const decoding::Translator translator = decoding::load_translator(options.model_folder);
  const std::vector<std::string> source = data::read_lines(text("test.en"));
  std::vector<std::string> hypothesis;
  for (const auto& translation : translator.translate(source, {})) {
    hypothesis.push_back(translation.text);
  }
  fmt::print("{}\n{}\n", source[0], hypothesis[0]);

  // 5. Score.
  const std::vector<std::string> reference = data::read_lines(text("test.de"));
  const auto bleu = evaluation::corpus_bleu(hypothesis, {reference});
  fmt::print("BLEU {:.2f} {}\n", bleu.score, bleu.signature);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
