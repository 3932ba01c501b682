// Any bytes as each of the JSON files of a model folder. What is read can be written, and read again to the same.
#include "base/manifest.h"
#include "decoding/search/search_defaults.h"
#include "fuzz.h"
#include "interop/marian_config.h"
#include "models/transformer/transformer_config.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace dragoman;
  const std::string text = fuzz::text_of(data, size);
  fuzz::read_or_refuse([&] {
    const models::TransformerConfig config = models::transformer_config_from_json(text, "config.json");
    config.check();
    const std::string written = models::to_json(config);
    fuzz::require(models::to_json(models::transformer_config_from_json(written, "config.json")) == written,
                  "a configuration comes back as it was written");
  });
  fuzz::read_or_refuse([&] {
    const decoding::SearchOptions options = decoding::search_defaults_from_json(text, "decoding.json");
    options.check();
    const std::string written = decoding::search_defaults_json(options);
    fuzz::require(
        decoding::search_defaults_json(decoding::search_defaults_from_json(written, "decoding.json")) == written,
        "search defaults come back as they were written");
  });
  fuzz::read_or_refuse([&] {
    const std::string written = base::to_text(base::manifest_from_text(text, "manifest.json"));
    fuzz::require(base::to_text(base::manifest_from_text(written, "manifest.json")) == written,
                  "a manifest comes back as it was written");
  });
  fuzz::read_or_refuse([&] { static_cast<void>(interop::marian_config_from_json(text, "config.json")); });
  return 0;
}
