#include "training/running_texts.h"

#include "base/sha256.h"
#include "training/validation_examples.h"

namespace dragoman::training {

RunningTexts::RunningTexts(const TrainOptions& options) {
  check_one_validation(options);
  training = data::read_documents(options.text, options.running_text);
  if (!options.valid_text.empty()) {
    validation = data::read_documents(options.valid_text, options.running_text);
  } else if (options.running_text.valid_share > 0.0) {
    auto [before, after] = data::divide(std::move(training), options.running_text.valid_share);
    training = std::move(before);
    validation = std::move(after);
  }
  fingerprint = fingerprint_of_texts(training);
  validation_fingerprint = validation.empty() ? "" : fingerprint_of_texts(validation);
}

std::string fingerprint_of_texts(const std::vector<std::string>& texts) {
  base::Sha256 hash;
  for (const std::string& text : texts) {
    hash.update(base::sha256_hex(text));
  }
  return hash.hex();
}

}  // namespace dragoman::training
