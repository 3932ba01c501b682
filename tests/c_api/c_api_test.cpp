// libdragoman.so through its C functions: the results of the C++ classes, every wrong argument, streams, cancelling,
// threads. c_api_program.c calls it from C.
#include <dragoman.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "base/random.h"
#include "decoding/load_model.h"
#include "decoding/load_translator.h"
#include "decoding/text_encoder.h"
#include "decoding/tiny_languages.h"
#include "models/encoder_only/encoder_only.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kLines = {"the cat sleeps", "", "a red house and the green mouse runs", "dog, dog."};

std::vector<dragoman_text> texts_of(const std::vector<std::string>& lines) {
  std::vector<dragoman_text> texts;
  for (const std::string& line : lines) {
    texts.push_back({line.data(), line.size()});
  }
  return texts;
}

void write_tiny_encoder(const fs::path& folder) {
  models::EncoderOnlyConfig config;
  config.vocab_size = decoding::letters().size();
  config.layers = 2;
  config.d_model = 16;
  config.d_ff = 24;
  config.n_heads = 4;
  config.max_positions = 24;
  config.pooler = models::Pooler::kNone;
  models::EncoderOnly model(config);
  model.parameters().allocate();
  model.parameters().initialize(3);
  models::publish_model_folder(folder, {.config = models::to_json(model.config()),
                                        .tensors = models::named_tensors(model.parameters()),
                                        .vocabularies = {{"tokenizer.json", decoding::letters().bytes()}}});
}

void write_many_languages(const fs::path& folder) {
  const auto translator = decoding::many_translator();
  const models::Model& model = translator->model();
  models::publish_model_folder(folder, {.config = models::to_json(model.config()),
                                        .tensors = models::named_tensors(model.parameters()),
                                        .vocabularies = {{"vocabulary.spm", decoding::many_vocabulary().bytes()}},
                                        .languages = models::languages_json(translator->languages())});
}

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
using Model = std::unique_ptr<dragoman_model, Freed<dragoman_model_free>>;
using Translations = std::unique_ptr<dragoman_translations, Freed<dragoman_translations_free>>;
using Continuations = std::unique_ptr<dragoman_continuations, Freed<dragoman_continuations_free>>;
using Embeddings = std::unique_ptr<dragoman_embeddings, Freed<dragoman_embeddings_free>>;
using Cancellation = std::unique_ptr<dragoman_cancellation, Freed<dragoman_cancellation_free>>;

// Expects this status and each part in the message.
void expect_status(dragoman_status seen, dragoman_status expected, const std::vector<std::string>& parts) {
  EXPECT_EQ(seen, expected) << dragoman_last_error();
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(dragoman_last_error()).find(part), std::string::npos)
        << "expected '" << part << "' in: " << dragoman_last_error();
  }
}

void expect_usage(dragoman_status seen, const std::vector<std::string>& parts) {
  expect_status(seen, DRAGOMAN_USAGE_ERROR, parts);
}

class CApi : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    program_ = std::make_unique<test_support::Program>();
    test_support::write_tiny_model(path("translator"));
    test_support::write_tiny_language_model(path("generator"));
    test_support::write_tiny_language_model(path("endless"), 1, 48, data::character_tokenizer(decoding::kLetters));
    write_tiny_encoder(path("encoder"));
    write_many_languages(path("languages"));
  }
  static void TearDownTestSuite() { program_.reset(); }

  static fs::path path(const std::string& name) { return program_->folder() / name; }

  static Model load(const std::string& name) {
    dragoman_model* model = nullptr;
    EXPECT_EQ(dragoman_model_load(path(name).c_str(), nullptr, &model), DRAGOMAN_OK) << dragoman_last_error();
    return Model(model);
  }

  static dragoman_translate_options translate_options() {
    dragoman_translate_options options;
    EXPECT_EQ(dragoman_translate_options_init(&options, sizeof options), DRAGOMAN_OK);
    return options;
  }
  static dragoman_generate_options generate_options() {
    dragoman_generate_options options;
    EXPECT_EQ(dragoman_generate_options_init(&options, sizeof options), DRAGOMAN_OK);
    return options;
  }

  static Translations translate(const Model& model, const std::vector<std::string>& lines,
                                const dragoman_translate_options& options) {
    dragoman_translations* translations = nullptr;
    const std::vector<dragoman_text> texts = texts_of(lines);
    EXPECT_EQ(dragoman_translate(model.get(), texts.data(), texts.size(), &options, &translations), DRAGOMAN_OK)
        << dragoman_last_error();
    return Translations(translations);
  }
  static dragoman_translation get(const Translations& translations, size_t line, size_t rank = 0) {
    dragoman_translation translation = {};
    translation.size = sizeof translation;
    EXPECT_EQ(dragoman_translations_get(translations.get(), line, rank, &translation), DRAGOMAN_OK)
        << dragoman_last_error();
    return translation;
  }
  static Continuations generate(const Model& model, const std::vector<std::string>& prompts,
                                const dragoman_generate_options& options) {
    dragoman_continuations* continuations = nullptr;
    const std::vector<dragoman_text> texts = texts_of(prompts);
    EXPECT_EQ(dragoman_generate(model.get(), texts.data(), texts.size(), &options, &continuations), DRAGOMAN_OK)
        << dragoman_last_error();
    return Continuations(continuations);
  }
  static dragoman_continuation get(const Continuations& continuations, size_t index) {
    dragoman_continuation continuation = {};
    continuation.size = sizeof continuation;
    EXPECT_EQ(dragoman_continuations_get(continuations.get(), index, &continuation), DRAGOMAN_OK)
        << dragoman_last_error();
    return continuation;
  }

  static std::unique_ptr<test_support::Program> program_;
};
std::unique_ptr<test_support::Program> CApi::program_;

TEST_F(CApi, TranslationsAreThoseOfTheTranslator) {
  const Model model = load("translator");
  EXPECT_EQ(dragoman_model_kind(model.get()), DRAGOMAN_TRANSLATES);
  dragoman_translate_options options = translate_options();
  options.n_best = 3;
  options.with_alignment = 1;
  options.search = R"({"alpha": 1.0, "length_penalty": "length"})";
  const Translations seen = translate(model, kLines, options);

  const decoding::Translator translator = decoding::load_translator(path("translator"));
  decoding::SearchOptions search = translator.search_defaults();
  search.n_best = 3;
  search.output.alignment = true;
  search.ranking.alpha = 1.0;
  search.ranking.length_penalty = decoding::LengthPenalty::kLength;
  const std::vector<decoding::Translation> expected = translator.translate(kLines, search);

  ASSERT_EQ(dragoman_translations_count(seen.get()), kLines.size());
  for (size_t line = 0; line < kLines.size(); ++line) {
    ASSERT_EQ(dragoman_translations_ranks(seen.get(), line), 1 + expected[line].alternatives.size());
    const dragoman_translation best = get(seen, line);
    EXPECT_EQ(std::string(best.text, best.text_size), expected[line].text);
    EXPECT_EQ(best.text[best.text_size], '\0');
    EXPECT_EQ(best.score, expected[line].score);
    EXPECT_EQ(best.normalised_score, expected[line].normalised_score);
    EXPECT_TRUE(std::ranges::equal(std::span(best.ids, best.id_count), expected[line].ids));
    EXPECT_TRUE(std::ranges::equal(std::span(best.token_scores, best.token_score_count), expected[line].token_scores));
    EXPECT_TRUE(std::ranges::equal(std::span(best.alignment, best.id_count * best.source_count),
                                   expected[line].alignment.weights));
    EXPECT_EQ(best.error, nullptr);
    for (size_t rank = 0; rank < expected[line].alternatives.size(); ++rank) {
      EXPECT_EQ(get(seen, line, rank + 1).text, expected[line].alternatives[rank].text);
    }
  }
}

TEST_F(CApi, PrefixesBeginTheTranslations) {
  const Model model = load("translator");
  const std::vector<std::string> lines = {"the red", ""};
  const std::vector<dragoman_text> prefixes = texts_of(lines);
  dragoman_translate_options options = translate_options();
  options.prefixes = prefixes.data();
  EXPECT_TRUE(std::string(get(translate(model, {"the cat", "the cat"}, options), 0).text).starts_with("the red"));
}

TEST_F(CApi, ModelsForSeveralLanguagesAreToldWhich) {
  const Model model = load("languages");
  const auto translator = decoding::many_translator();
  const std::string text = "the cat sleeps";
  const auto translated = [&](const char* source, const char* target) {
    dragoman_translate_options options = translate_options();
    options.beam_size = 1;
    options.source_language = source;
    options.target_language = target;
    const auto expected = translator->translate_requests(
        std::vector{decoding::TranslationRequest{.text = text,
                                                 .languages = translator->choose_languages({source, target}).tokens}},
        [] {
          decoding::SearchOptions greedy;
          greedy.beam_size = 1;
          return greedy;
        }());
    const std::string seen = get(translate(model, {text}, options), 0).text;
    EXPECT_EQ(seen, expected.front().text) << source << " to " << target;
    return seen;
  };
  EXPECT_EQ(translated("en", "fr"), translated("eng_Latn", "fra_Latn"));
  EXPECT_NE(translated("en", "fr"), translated("en", "de"));
  dragoman_translate_options options = translate_options();
  options.source_language = "en";
  dragoman_translations* none = nullptr;
  const std::vector<dragoman_text> lines = texts_of({text});
  expect_usage(dragoman_translate(model.get(), lines.data(), 1, &options, &none),
               {"target language: the model writes 5 languages; name one"});
  options.target_language = "xx";
  expect_usage(dragoman_translate(model.get(), lines.data(), 1, &options, &none), {"target language is \"xx\""});
  EXPECT_EQ(none, nullptr);
}

TEST_F(CApi, ContinuationsAreThoseOfTheGenerator) {
  const Model model = load("generator");
  EXPECT_EQ(dragoman_model_kind(model.get()), DRAGOMAN_GENERATES);
  const std::vector<std::string> prompts = {"the cat ", "a"};
  dragoman_generate_options options = generate_options();
  options.max_tokens = 10;
  options.samples = 2;
  options.seed = 7;
  options.with_scores = 1;
  const Continuations seen = generate(model, prompts, options);
  ASSERT_EQ(dragoman_continuations_count(seen.get()), 4U);

  const auto generator = decoding::load_generator(path("generator"));
  decoding::GenerationOptions generation;
  generation.max_tokens = 10;
  generation.search.sampling.seed = 7;
  for (size_t i = 0; i < 4; ++i) {
    const decoding::GenerationRequest request{.prompt = prompts[i / 2], .sample = i % 2};
    const decoding::Continuation expected = generator->generate({&request, 1}, generation).front();
    const dragoman_continuation text = get(seen, i);
    EXPECT_EQ(std::string(text.text, text.text_size), expected.text);
    EXPECT_TRUE(std::ranges::equal(std::span(text.ids, text.id_count), expected.ids));
    EXPECT_EQ(text.score, expected.score);
    EXPECT_EQ(text.prompt_tokens, expected.prompt_ids.size());
  }
}

TEST_F(CApi, VectorsAreThoseOfTheEncoder) {
  const Model model = load("encoder");
  EXPECT_EQ(dragoman_model_kind(model.get()), DRAGOMAN_EMBEDS);
  const std::vector<std::string> lines = {"the cat", "a dog that is too long for an encoder of few places"};
  const std::vector<dragoman_text> texts = texts_of(lines);
  dragoman_embeddings* embeddings = nullptr;
  ASSERT_EQ(dragoman_embed(model.get(), texts.data(), texts.size(), nullptr, &embeddings), DRAGOMAN_OK)
      << dragoman_last_error();
  const Embeddings owner(embeddings);
  size_t count = 0, width = 0, cut = 0;
  const float* values = dragoman_embeddings_values(embeddings, &count, &width, &cut);
  const decoding::Embeddings expected = decoding::load_encoder(path("encoder")).embed(lines);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(width, static_cast<size_t>(expected.width));
  EXPECT_EQ(cut, 1U);
  EXPECT_TRUE(std::ranges::equal(std::span(values, count * width), expected.values));
  EXPECT_EQ(dragoman_embeddings_values(embeddings, nullptr, nullptr, nullptr), values);
}

// What a callback has been told of each text.
struct Seen {
  std::vector<std::string> texts = std::vector<std::string>(8);
  std::atomic<int> at_a_time = 0;
  bool overlapped = false;
  bool shrank = false;
  size_t stop_after = SIZE_MAX;  // tokens
};

int see(const dragoman_part* part, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  seen.overlapped |= ++seen.at_a_time != 1;
  std::string& text = seen.texts.at(part->index);
  seen.shrank |= !std::string_view(part->text, part->text_size).starts_with(text);
  text.assign(part->text, part->text_size);
  --seen.at_a_time;
  return part->tokens >= seen.stop_after ? 1 : 0;
}

TEST_F(CApi, StreamsGrowToTheTextsOneCallAtATime) {
  const Model translator = load("translator");
  Seen seen;
  dragoman_translate_options options = translate_options();
  options.beam_size = 1;
  options.workers = 2;
  options.on_part = see;
  options.user = &seen;
  const Translations translations = translate(translator, kLines, options);
  for (size_t line = 0; line < kLines.size(); ++line) {
    EXPECT_EQ(seen.texts[line], get(translations, line).text);
  }
  EXPECT_FALSE(seen.overlapped);

  Seen generated;
  dragoman_generate_options generate_with = generate_options();
  generate_with.max_tokens = 12;
  generate_with.samples = 2;
  generate_with.on_part = see;
  generate_with.user = &generated;
  const Continuations continuations = generate(load("generator"), {"the cat", "dog "}, generate_with);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(generated.texts[i], get(continuations, i).text);
  }
  EXPECT_FALSE(generated.overlapped);
  EXPECT_FALSE(generated.shrank);
}

TEST_F(CApi, ACallbackCancelsItsTextAlone) {
  Seen seen;
  seen.stop_after = 3;
  dragoman_generate_options options = generate_options();
  options.max_tokens = 30;
  options.on_part = see;
  options.user = &seen;
  const Continuations continuations = generate(load("generator"), {"the cat"}, options);
  const dragoman_continuation text = get(continuations, 0);
  EXPECT_EQ(text.finish_reason, DRAGOMAN_CANCELLED);
  EXPECT_EQ(text.id_count, 3U);
}

int throws(const dragoman_part*, void*) {
  throw std::runtime_error("thrown by the callback");
}

TEST_F(CApi, NoExceptionOfACallbackGetsOut) {
  dragoman_translate_options options = translate_options();
  options.on_part = throws;
  const Translations translations = translate(load("translator"), {"the cat"}, options);
  EXPECT_NE(std::string(get(translations, 0).error).find("thrown by the callback"), std::string::npos);
}

int request_cancel(const dragoman_part*, void* user) {
  dragoman_cancellation_request(static_cast<dragoman_cancellation*>(user));
  return 0;
}

TEST_F(CApi, ACancellationAndATimeoutEndAllTexts) {
  const Model model = load("endless");
  dragoman_cancellation* cancellation = nullptr;
  ASSERT_EQ(dragoman_cancellation_create(&cancellation), DRAGOMAN_OK);
  const Cancellation owner(cancellation);
  dragoman_generate_options options = generate_options();
  options.max_tokens = 1'000'000;
  options.context_shift = 1;
  options.temperature = 0.0;
  options.cancellation = cancellation;
  options.on_part = request_cancel;
  options.user = cancellation;
  const Continuations cancelled = generate(model, {"the cat", "a dog"}, options);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(get(cancelled, i).finish_reason, DRAGOMAN_CANCELLED);
  }
  options.cancellation = nullptr;
  options.on_part = nullptr;
  options.timeout_seconds = 0.05;
  EXPECT_EQ(get(generate(model, {"the cat"}, options), 0).finish_reason, DRAGOMAN_DEADLINE);
}

TEST_F(CApi, ThreadsShareAModelAndHaveErrorsOfTheirOwn) {
  const Model model = load("translator");
  const std::string expected = get(translate(model, kLines, translate_options()), 2).text;
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(get(translate(model, kLines, translate_options()), 2).text, expected);
        dragoman_translate_options wrong = translate_options();
        wrong.beam_size = 1000 + number;
        dragoman_translations* none = nullptr;
        expect_usage(dragoman_translate(model.get(), nullptr, 0, &wrong, &none), {fmt::format("{}", 1000 + number)});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_STREQ(dragoman_last_error(), "");
}

TEST_F(CApi, NullPointersAreErrors) {
  const Model model = load("translator");
  const dragoman_text text = {"the cat", 7};
  dragoman_translations* translations = nullptr;
  dragoman_model* none = nullptr;
  expect_usage(dragoman_model_load(nullptr, nullptr, &none), {"folder is null"});
  expect_usage(dragoman_model_load(path("translator").c_str(), nullptr, nullptr), {"model is null"});
  expect_usage(dragoman_translate(nullptr, &text, 1, nullptr, &translations), {"model is null"});
  expect_usage(dragoman_translate(model.get(), nullptr, 1, nullptr, &translations), {"lines is null", "count is 1"});
  expect_usage(dragoman_translate(model.get(), &text, 1, nullptr, nullptr), {"translations is null"});
  const dragoman_text broken = {nullptr, 5};
  expect_usage(dragoman_translate(model.get(), &broken, 1, nullptr, &translations), {"lines[0]", "5 bytes"});
  EXPECT_EQ(translations, nullptr);
  expect_usage(dragoman_generate(nullptr, &text, 1, nullptr, nullptr), {"continuations is null"});
  expect_usage(dragoman_embed(nullptr, &text, 1, nullptr, nullptr), {"embeddings is null"});
  dragoman_translation translation = {};
  translation.size = sizeof translation;
  expect_usage(dragoman_translations_get(nullptr, 0, 0, &translation), {"translations is null"});
  dragoman_continuation continuation = {};
  expect_usage(dragoman_continuations_get(nullptr, 0, &continuation), {"continuations is null"});
  expect_usage(dragoman_translate_options_init(nullptr, 100), {"options is null"});
  expect_usage(dragoman_cancellation_create(nullptr), {"cancellation is null"});
  EXPECT_EQ(dragoman_model_kind(nullptr), 0);
  EXPECT_EQ(dragoman_translations_count(nullptr), 0U);
  EXPECT_EQ(dragoman_translations_ranks(nullptr, 0), 0U);
  EXPECT_EQ(dragoman_continuations_count(nullptr), 0U);
  size_t count = 7;
  EXPECT_EQ(dragoman_embeddings_values(nullptr, &count, nullptr, nullptr), nullptr);
  EXPECT_EQ(count, 0U);
  dragoman_cancellation_request(nullptr);
  dragoman_cancellation_free(nullptr);
  dragoman_model_free(nullptr);
  dragoman_translations_free(nullptr);
  dragoman_continuations_free(nullptr);
  dragoman_embeddings_free(nullptr);
}

TEST_F(CApi, NoTextsAreNoTranslations) {
  dragoman_translations* translations = nullptr;
  ASSERT_EQ(dragoman_translate(load("translator").get(), nullptr, 0, nullptr, &translations), DRAGOMAN_OK);
  EXPECT_EQ(dragoman_translations_count(translations), 0U);
  dragoman_translations_free(translations);
}

TEST_F(CApi, WrongOptionsAndModelsAreErrors) {
  const Model model = load("translator");
  dragoman_translations* translations = nullptr;
  const auto translating = [&](const std::function<void(dragoman_translate_options&)>& change) {
    dragoman_translate_options options = translate_options();
    change(options);
    return dragoman_translate(model.get(), nullptr, 0, &options, &translations);
  };
  expect_usage(translating([](auto& options) { options.beam_size = 129; }), {"beam_size is 129", "1 to 128"});
  expect_usage(translating([](auto& options) { options.workers = -1; }), {"workers is -1"});
  expect_usage(translating([](auto& options) { options.batch_tokens = -1; }), {"batch_tokens is -1"});
  expect_usage(translating([](auto& options) { options.with_scores = 7; }), {"with_scores is 7", "0 or 1"});
  expect_usage(translating([](auto& options) { options.timeout_seconds = -1; }), {"timeout_seconds is -1"});
  expect_usage(translating([](auto& options) { options.timeout_seconds = NAN; }), {"timeout_seconds is nan"});
  expect_usage(translating([](auto& options) { options.search = R"({"alpa": 1})"; }), {"alpa", "did you mean"});
  expect_usage(translating([](auto& options) { options.search = "{"; }), {"search: "});
  expect_usage(translating([](auto& options) { options.search = R"({"beam_size": 2})"; }), {"beam_size", "struct"});
  dragoman_continuations* continuations = nullptr;
  expect_usage(dragoman_generate(model.get(), nullptr, 0, nullptr, &continuations), {"use dragoman_translate"});
  dragoman_embeddings* embeddings = nullptr;
  expect_usage(dragoman_embed(load("generator").get(), nullptr, 0, nullptr, &embeddings), {"use dragoman_generate"});
  dragoman_load_options load_with;
  ASSERT_EQ(dragoman_load_options_init(&load_with, sizeof load_with), DRAGOMAN_OK);
  load_with.precision = 9;
  dragoman_model* none = nullptr;
  expect_usage(dragoman_model_load(path("translator").c_str(), &load_with, &none), {"precision is 9"});
  load_with.precision = DRAGOMAN_STORED;
  load_with.device = "gpu";
  expect_usage(dragoman_model_load(path("translator").c_str(), &load_with, &none),
               {"dragoman_model_load: device is \"gpu\", must be auto, cpu, cuda or cuda:N"});
  expect_status(dragoman_model_load(path("nothing").c_str(), nullptr, &none), DRAGOMAN_BAD_DATA, {"nothing"});
  EXPECT_EQ(none, nullptr);
}

TEST_F(CApi, WrongGenerationsAreErrors) {
  const Model model = load("generator");
  dragoman_continuations* continuations = nullptr;
  const auto generating = [&](const std::function<void(dragoman_generate_options&)>& change) {
    dragoman_generate_options options = generate_options();
    change(options);
    return dragoman_generate(model.get(), nullptr, 0, &options, &continuations);
  };
  expect_usage(generating([](auto& options) { options.samples = 0; }), {"samples is 0"});
  expect_usage(generating([](auto& options) {
                 options.samples = 2;
                 options.temperature = 0;
               }),
               {"samples is 2", "temperature above 0"});
  expect_usage(generating([](auto& options) { options.top_p = 2; }), {"top_p is 2"});
  expect_usage(generating([](auto& options) { options.max_tokens = -1; }), {"max_tokens is -1"});
  expect_usage(generating([](auto& options) { options.stop_count = 1; }), {"stops is null"});
}

// Options of random numbers, sensible and not, are carried out or refused.
TEST_F(CApi, NoOptionsCrash) {
  constexpr int32_t kIntegers[] = {INT32_MIN, -1, 0, 0, 0, 1, 1, 2, 7, INT32_MAX};
  constexpr double kNumbers[] = {-INFINITY, -1, 0, 0, 0.5, 1, 1, 1e300, INFINITY, NAN};
  base::Random random(1);
  const auto integer = [&] { return kIntegers[random.below(std::size(kIntegers))]; };
  const auto number = [&] { return kNumbers[random.below(std::size(kNumbers))]; };
  const Model translator = load("translator"), generator = load("generator");
  const dragoman_text line = {"the cat", 7};
  int done = 0;
  for (int call = 0; call < 500; ++call) {
    dragoman_translate_options translate_with = translate_options();
    translate_with.beam_size = integer();
    translate_with.n_best = integer();
    translate_with.with_scores = random.below(2) == 0 ? 1 : integer();
    translate_with.with_alignment = random.below(2) == 0 ? 1 : integer();
    translate_with.workers = random.below(2) == 0 ? 1 : integer();
    translate_with.batch_tokens = integer();
    translate_with.timeout_seconds = random.below(2) == 0 ? 0 : number();
    dragoman_translations* translations = nullptr;
    done += dragoman_translate(translator.get(), &line, 1, &translate_with, &translations) == DRAGOMAN_OK ? 1 : 0;
    dragoman_translations_free(translations);

    dragoman_generate_options generate_with = generate_options();
    generate_with.max_tokens = integer();
    generate_with.samples = random.below(2) == 0 ? 1 : integer();
    generate_with.beam_size = random.below(2) == 0 ? 1 : integer();
    generate_with.temperature = number();
    generate_with.top_k = integer();
    generate_with.top_p = random.below(2) == 0 ? 1 : number();
    generate_with.min_p = random.below(2) == 0 ? 0 : number();
    generate_with.timeout_seconds = random.below(2) == 0 ? 0 : number();
    dragoman_continuations* continuations = nullptr;
    done += dragoman_generate(generator.get(), &line, 1, &generate_with, &continuations) == DRAGOMAN_OK ? 1 : 0;
    dragoman_continuations_free(continuations);
  }
  EXPECT_GT(done, 20);
  EXPECT_LT(done, 900);
}

// A struct as a later version of dragoman might have it.
template <typename Struct>
struct Later {
  Struct known;
  uint64_t added;
};

TEST_F(CApi, StructsOfOtherVersionsFit) {
  const Model model = load("translator");
  const dragoman_text line = {"the cat", 7};
  dragoman_translations* translations = nullptr;
  Later<dragoman_translate_options> later = {};
  ASSERT_EQ(dragoman_translate_options_init(&later.known, sizeof later), DRAGOMAN_OK);
  EXPECT_EQ(later.known.size, sizeof later);
  EXPECT_EQ(dragoman_translate(model.get(), &line, 1, &later.known, &translations), DRAGOMAN_OK)
      << dragoman_last_error();
  const Translations owner(translations);

  Later<dragoman_translation> wide = {};
  wide.added = 42;
  wide.known.size = sizeof wide;
  EXPECT_EQ(dragoman_translations_get(translations, 0, 0, &wide.known), DRAGOMAN_OK);
  EXPECT_EQ(wide.known.size, sizeof wide);
  EXPECT_EQ(wide.added, 42U);

  later.added = 1;
  dragoman_translations* none = nullptr;
  expect_usage(dragoman_translate(model.get(), &line, 1, &later.known, &none), {"later dragoman"});
  dragoman_translate_options small = {};
  expect_usage(dragoman_translate(model.get(), &line, 1, &small, &none), {"size of the options is 0", "_init"});
  expect_usage(dragoman_translate_options_init(&small, 4), {"size is 4"});
  dragoman_translation unset = {};
  expect_usage(dragoman_translations_get(translations, 0, 0, &unset), {"size of the struct is 0"});
  expect_usage(dragoman_translations_get(translations, 1, 0, &unset), {"line is 1", "below 1"});
  expect_usage(dragoman_translations_get(translations, 0, 1, &unset), {"rank is 1", "below 1"});
}

// What programs print for these lines.
std::vector<std::string> expected_lines(const std::vector<std::string>& lines, const fs::path& folder) {
  const decoding::Translator translator = decoding::load_translator(folder);
  std::vector<std::string> texts;
  for (const decoding::Translation& translation : translator.translate(lines, translator.search_defaults())) {
    texts.push_back(translation.text);
  }
  return texts;
}

// Runs a command of a shell in the folder with the models. Returns: its standard output.
std::string output_of(const test_support::Program& program, const std::string& command) {
  program.write("lines", "the cat sleeps\n\na red house\n");
  const int status =
      std::system(("cd '" + program.folder().string() + "' && " + command + " <lines >c.out 2>c.err").c_str());
  EXPECT_EQ(status, 0) << command << "\n" << program.read("c.err");
  return program.read("c.out");
}

// @param before  what runs the program: empty, or valgrind with its options
void expect_c_program_works(const test_support::Program& program, const std::string& before) {
  const std::string seen = output_of(program, before + " '" DRAGOMAN_C_PROGRAM "' translator generator encoder");
  const auto texts = expected_lines({"the cat sleeps", "", "a red house"}, program.folder() / "translator");
  std::string expected;
  for (size_t i = 0; i < texts.size(); ++i) {
    expected += fmt::format("translation {} {}\n", i, texts[i]);
  }
  EXPECT_TRUE(seen.starts_with(expected)) << "expected\n" << expected << "seen\n" << seen;
  for (const char* part : {"continuation ", "stream ", "vector "}) {
    EXPECT_NE(seen.find(part), std::string::npos) << seen;
  }
}

TEST_F(CApi, AProgramInC99Works) {
  expect_c_program_works(*program_, "");
}

// Without the sanitizers, which look for the same themselves. ctest runs it apart from the others.
TEST_F(CApi, AProgramInC99LeaksNothing) {
  if (std::string(DRAGOMAN_VALGRIND).empty()) {
    GTEST_SKIP() << "valgrind is not installed, or the sanitizers are on";
  }
  expect_c_program_works(*program_,
                         "'" DRAGOMAN_VALGRIND
                         "' --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect");
}

TEST_F(CApi, TheExamplesInCWork) {
  const auto texts = expected_lines({"the cat sleeps", "", "a red house"}, path("translator"));
  EXPECT_EQ(output_of(*program_, "'" DRAGOMAN_C_TRANSLATE "' translator"),
            fmt::format("{}\n{}\n{}\n", texts[0], texts[1], texts[2]));
  const std::string generated = output_of(*program_, "'" DRAGOMAN_C_GENERATE "' generator 'the cat '");
  dragoman_generate_options options = generate_options();
  options.max_tokens = 40;
  EXPECT_EQ(generated, fmt::format("the cat {}\n", get(generate(load("generator"), {"the cat "}, options), 0).text));
}

TEST_F(CApi, TheExampleInRustWorks) {
  if (std::string(DRAGOMAN_RUSTC).empty()) {
    GTEST_SKIP() << "rustc is not installed, or the sanitizers are on";
  }
  const std::string folder = fs::path(DRAGOMAN_C_LIBRARY).parent_path().string();
  output_of(*program_, "'" DRAGOMAN_RUSTC "' '" DRAGOMAN_SOURCE "/examples/rust/translate.rs' -L '" + folder +
                           "' -l dragoman -C link-arg=-Wl,-rpath,'" + folder + "' -o translate_rs");
  const auto texts = expected_lines({"the cat sleeps", "", "a red house"}, path("translator"));
  EXPECT_EQ(output_of(*program_, "./translate_rs translator"),
            fmt::format("{}\n{}\n{}\n", texts[0], texts[1], texts[2]));
}

}  // namespace
}  // namespace dragoman
