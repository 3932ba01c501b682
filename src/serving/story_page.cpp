#include "serving/story_page.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "models/transformer/transformer_config.h"
#include "report/html.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/page/page_modules.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using Parts = std::vector<InspectPart>;

constexpr int64_t kCandidates = 12;           // as many as sentence.js asks for
constexpr int64_t kMostOfPictures = 600'000;  // numbers that are drawn as pictures alone, as in one reply of a server
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();  // the number of tokens is bounded

// The parts that one architecture shows.
struct StoryParts {
  Parts first;     // with which the page begins: sentence.js
  Parts needed;    // story_facts.js, story_alone.js
  Parts pictures;  // what they can do without
};

InspectPart part(PartKind kind, const char* name, std::string path = {}) {
  return {.kind = kind, .name = name, .path = std::move(path)};
}

InspectPart attention(std::string path) {
  return part(PartKind::kAttention, "attention", std::move(path));
}

// What each layer of a stack writes, and what its first layer does. @param stack  "encoder.", or "" of a language model
Parts pictures_of(const std::string& stack, int64_t layers) {
  Parts parts = {part(PartKind::kFeedForward, "feed_forward", stack + "layers.0.feed_forward"),
                 part(PartKind::kResidual, "residual", stack + "layers.0.self_attention")};
  for (int64_t layer = 0; layer < layers; ++layer) {
    parts.push_back(part(PartKind::kResidual, "residual", fmt::format("{}layers.{}.feed_forward", stack, layer)));
  }
  return parts;
}

Parts first_parts() {
  InspectPart candidates = part(PartKind::kCandidates, "candidates");
  candidates.count = kCandidates;
  return {part(PartKind::kWeights, "weights"), std::move(candidates)};
}

StoryParts parts_of(const models::TransformerConfig& config) {
  base::check_usage(config.decoder_sublayer == nn::DecoderSublayer::kSelfAttention,
                    "story: the decoder's sub-layer is {}, the story is of self-attention",
                    base::name_of(config.decoder_sublayer));
  StoryParts parts = {
      .first = first_parts(),
      .needed = {part(PartKind::kEmbedding, "embedding", "encoder.embedding"),
                 attention("encoder.layers.0.self_attention"), part(PartKind::kOutput, "output", "encoder"),
                 part(PartKind::kEmbedding, "embedding", "decoder.embedding"),
                 part(PartKind::kOutput, "output", "decoder"),
                 attention(fmt::format("decoder.layers.{}.cross_attention", config.decoder_layers - 1))},
      .pictures = pictures_of("encoder.", config.encoder_layers)};
  parts.first.push_back(part(PartKind::kBeam, "beam"));
  if (config.positions == nn::PositionKind::kRelative) {
    parts.needed.push_back(part(PartKind::kParameter, "parameter", "encoder.relative_positions.weight"));
  }
  return parts;
}

StoryParts parts_of(const models::DecoderOnlyConfig& config) {
  StoryParts parts = {.first = first_parts(),
                      .needed = {part(PartKind::kEmbedding, "embedding", "embedding"),
                                 attention("layers.0.self_attention"), part(PartKind::kOutput, "output", "decoder")},
                      .pictures = pictures_of("", config.layers)};
  if (config.layers > 1) {
    parts.needed.push_back(attention(fmt::format("layers.{}.self_attention", config.layers - 1)));
  }
  return parts;
}

// What the stories of models without self-attention share.
StoryParts parts_of_aligned() {
  StoryParts parts = {.first = first_parts(),
                      .needed = {part(PartKind::kEmbedding, "embedding", "encoder.embedding"),
                                 part(PartKind::kEmbedding, "embedding", "decoder.embedding"),
                                 part(PartKind::kOutput, "output", "decoder")},
                      .pictures = {}};
  parts.first.push_back(part(PartKind::kBeam, "beam"));
  return parts;
}

StoryParts parts_of(const models::RecurrentConfig& config) {
  StoryParts parts = parts_of_aligned();
  for (const char* path : {"encoder.layers.0.forward", "encoder.layers.0.backward", "decoder.layers.0"}) {
    parts.needed.push_back(part(PartKind::kCell, "cell", path));
  }
  parts.needed.push_back(part(PartKind::kFirstState, "first_state", "decoder.layers.0"));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    parts.needed.push_back(part(PartKind::kOutput, "output", fmt::format("encoder.layers.{}", layer)));
  }
  if (config.attention != models::RecurrentAttention::kNone) {
    parts.needed.push_back(attention("decoder.attention"));
  }
  return parts;
}

StoryParts parts_of(const models::ConvolutionalConfig& config) {
  StoryParts parts = parts_of_aligned();
  parts.needed.push_back(part(PartKind::kOutput, "output", "encoder"));
  for (int64_t layer = 0; layer < config.encoder_layers; ++layer) {
    parts.needed.push_back(part(PartKind::kConvolution, "convolution", fmt::format("encoder.layers.{}", layer)));
  }
  parts.needed.push_back(attention(fmt::format("decoder.layers.{}.attention", config.decoder_layers - 1)));
  return parts;
}

// The parts of the first of these configurations that the model has.
template <typename First, typename... Others>
StoryParts parts_of_model(const models::ModelConfig& config) {
  if (const auto* shape = config.get_if<First>(); shape != nullptr) {
    return parts_of(*shape);
  }
  if constexpr (sizeof...(Others) > 0) {
    return parts_of_model<Others...>(config);
  } else {
    base::fail(base::ErrorKind::kUsage, "story: a model of the architecture {} has no story", config.architecture());
  }
}

void append(json reply, json& kept) {
  for (json& each : reply["parts"]) {
    kept.push_back(std::move(each));
  }
}

template <typename Engine>
json kept_replies(const Engine& engine, const decoding::InspectionRequest& request, const StoryParts& parts) {
  InspectBody body;
  body.inspection = request;
  const auto ask = [&](const Parts& asked, int64_t most) {
    body.parts = asked;
    return json::parse(inspect_reply(engine, body, {.sentence = {}, .max_numbers = most}));
  };
  json kept = ask(parts.first, kAny);
  body.inspection.predicted = kept["target"]["ids"].get<std::vector<int32_t>>();
  append(ask(parts.needed, kAny), kept["parts"]);
  try {
    append(ask(parts.pictures, kMostOfPictures), kept["parts"]);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::kUsage) {  // otherwise they are too large, and the page draws outlines
      throw;
    }
  }
  return kept;
}

std::string page_of(const json& kept) {
  // The policy makes "no outside resource" a rule that the browser keeps.
  constexpr const char* kPage = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:">
<title>{0}</title>
<style>{1}</style>
<style id="dark" media="not all">{2}</style>
<script>{3}</script>
<script type="importmap">{4}</script>
</head>
<body>
<header class="top"><p class="brand">{0}</p><div class="settings">
<button id="language" class="quiet"></button>
<button id="theme" class="quiet icon" aria-label="Theme" data-t-label="theme"></button>
</div></header>
<main id="view"></main>
<p id="announcer" class="hidden" role="status" aria-live="polite"></p>
<script type="application/json" id="kept">{5}</script>
<script type="module">import "assets/story_file.js";</script>
</body>
</html>
)html";
  return fmt::format(kPage, report::escape_html(kept["source"]["text"].get<std::string>()),
                     page_texts({"base.css", "inside.css", "parts.css", "story.css"}), page_texts({"dark.css"}),
                     page_texts({"theme.js"}), import_map("story_file.js", {{"api.js", "kept_replies.js"}}),
                     report::escape_json_for_script(base::dump_json(kept)));
}

}  // namespace

std::string story_page(const decoding::Translator& translator, const decoding::InspectionRequest& request) {
  const StoryParts parts =
      parts_of_model<models::TransformerConfig, models::RecurrentConfig, models::ConvolutionalConfig>(
          translator.model().config());
  json kept = kept_replies(translator, request, parts);
  kept["request"] = {{"text", request.text}, {"beam_size", request.options.beam_size}};
  return page_of(kept);
}

std::string story_page(const decoding::Generator& generator, const decoding::InspectionRequest& request) {
  const StoryParts parts = parts_of_model<models::DecoderOnlyConfig>(generator.model().config());
  json kept = kept_replies(generator, request, parts);
  kept["request"] = {{"model", "kept"}, {"text", request.text}, {"max_tokens", request.max_tokens}};
  return page_of(kept);
}

}  // namespace dragoman::serving
