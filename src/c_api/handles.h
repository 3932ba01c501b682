#pragma once

#include <dragoman.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "decoding/generator.h"
#include "decoding/text_encoder.h"
#include "decoding/translator.h"

/// A loaded model: one of the three is there.
struct dragoman_model {
  std::unique_ptr<dragoman::decoding::Translator> translator;
  std::unique_ptr<dragoman::decoding::Generator> generator;
  std::unique_ptr<dragoman::decoding::TextEncoder> encoder;
};

struct dragoman_cancellation {
  std::stop_source source;
};

struct dragoman_translations {
  std::vector<dragoman::decoding::Translation> lines;
};

struct dragoman_continuations {
  std::vector<dragoman::decoding::Continuation> texts;
};

struct dragoman_embeddings {
  dragoman::decoding::Embeddings vectors;
  size_t count = 0;
};
