#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"

namespace dragoman::models {

/// What a model of any architecture does.
enum class ModelKind {
  kEncoderDecoder,  ///< it reads a source and writes a target
  kDecoder,         ///< it continues a text, and reads no source
  kEncoder,         ///< it reads a text, and writes none
};

/// The sizes that code for all architectures needs.
struct ModelSizes {
  int64_t source_vocab_size = 0;  ///< pieces; 0 where the model reads no source
  int64_t target_vocab_size = 0;  ///< pieces; 0 where the model writes no text
  int64_t d_model = 0;            ///< D, width of the rows that the output layer takes
  int64_t max_positions = 0;      ///< longest source or target in tokens, sentence end included
  bool one_vocabulary = false;    ///< an id means the same on both sides, so that both need one joint vocabulary
  int64_t state_floats = 0;       ///< floats that generating keeps for a token at most, such as its keys and values

  [[nodiscard]] constexpr ModelKind kind() const {
    return target_vocab_size == 0   ? ModelKind::kEncoder
           : source_vocab_size == 0 ? ModelKind::kDecoder
                                    : ModelKind::kEncoderDecoder;
  }
};

/// Returns: whether a field of a configuration is a dropout. Dropouts are not part of the shape of a model: training
/// that starts from a model may change them.
constexpr bool is_dropout(std::string_view field) {
  return field.ends_with("dropout");
}

/// Calls the `to_json(config)` of a configuration's own namespace.
template <typename Config>
std::string text_of(const Config& config) {
  return to_json(config);
}

/// The configuration of a model of any architecture, as a value. It holds the checked struct of one architecture.
/// Code for all architectures reads sizes() and to_json(); code that explains one architecture asks get_if().
///
/// Requires of `Config`, beside being copyable: a constant `Config::kArchitecture` (the name in config.json), a table
/// of fields (base/fields.h), `check()`, `sizes()`, `set_vocabulary_sizes(source, target)`, `facts()`, and a free
/// function `to_json(config)`.
class ModelConfig {
 public:
  template <typename Config>
  ModelConfig(Config config)
      : held_(std::make_shared<Held<Config>>(std::move(config))) {}  // NOLINT: a value of any kind

  /// "transformer": the name in config.json and in the table of architectures.
  std::string_view architecture() const { return held_->architecture(); }
  ModelSizes sizes() const { return held_->sizes(); }
  /// Throws: Error(kUsage) naming field, rule and value.
  void check() const { held_->check(); }
  /// Returns: the text of config.json.
  std::string to_json() const { return held_->to_json(); }
  /// Returns: the shape in words for a report, by name: {"layers", "6 + 6"}.
  std::vector<std::pair<std::string, std::string>> facts() const { return held_->facts(); }
  /// Whether there is a field of this name, those of groups included.
  bool has_field(std::string_view name) const { return held_->has_field(name); }
  /// Returns: the dropouts by field name, in the order of the table.
  std::vector<std::pair<std::string, float>> dropouts() const { return held_->dropouts(); }

  /// Returns: this configuration with `change(Config&)` applied: with<TransformerConfig>([](auto& c) { c.d_ff = 8; }).
  /// Throws: Error for a configuration of another architecture.
  template <typename Config, typename Change>
  ModelConfig with(Change change) const {
    base::check_argument(get_if<Config>() != nullptr, "model: architecture is {}, must be {}", architecture(),
                         Config::kArchitecture);
    Config config = *get_if<Config>();
    change(config);
    return config;
  }
  /// Returns: the same shape for vocabularies of these sizes.
  ModelConfig with_vocabulary_sizes(int64_t source, int64_t target) const {
    return held_->with_vocabulary_sizes(source, target);
  }
  /// Returns: the same shape with the dropouts that `asked` has under the same names.
  ModelConfig with_dropouts_of(const ModelConfig& asked) const { return held_->with_dropouts(asked.dropouts()); }

  /// Returns: the struct of the architecture; null if the configuration is of another one.
  template <typename Config>
  const Config* get_if() const {
    const auto* held = dynamic_cast<const Held<Config>*>(held_.get());
    return held == nullptr ? nullptr : &held->config;
  }

 private:
  using Dropouts = std::vector<std::pair<std::string, float>>;

  struct AnyConfig {
    virtual ~AnyConfig() = default;
    virtual std::string_view architecture() const = 0;
    virtual ModelSizes sizes() const = 0;
    virtual void check() const = 0;
    virtual std::string to_json() const = 0;
    virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
    virtual bool has_field(std::string_view name) const = 0;
    virtual Dropouts dropouts() const = 0;
    virtual ModelConfig with_vocabulary_sizes(int64_t source, int64_t target) const = 0;
    virtual ModelConfig with_dropouts(const Dropouts& asked) const = 0;
  };

  template <typename Config>
  struct Held : AnyConfig {
    explicit Held(Config held) : config(std::move(held)) {}
    std::string_view architecture() const override { return Config::kArchitecture; }
    ModelSizes sizes() const override { return config.sizes(); }
    void check() const override { config.check(); }
    std::string to_json() const override { return models::text_of(config); }
    std::vector<std::pair<std::string, std::string>> facts() const override { return config.facts(); }
    ModelConfig with_vocabulary_sizes(int64_t source, int64_t target) const override {
      Config other = config;
      other.set_vocabulary_sizes(source, target);
      return other;
    }

    bool has_field(std::string_view name) const override {
      bool found = false;
      base::for_each_part<Config>([&](auto part) {
        base::PartOf<Config, decltype(part)>::fields([&](const auto& field) { found = found || field.name == name; });
      });
      return found;
    }
    Dropouts dropouts() const override {
      Dropouts all;
      visit_dropouts(config, [&](const char* name, float value) { all.emplace_back(name, value); });
      return all;
    }
    ModelConfig with_dropouts(const Dropouts& asked) const override {
      Config other = config;
      visit_dropouts(other, [&](const char* name, float& value) {
        for (const auto& [asked_name, asked_value] : asked) {
          value = asked_name == name ? asked_value : value;
        }
      });
      return other;
    }
    // Calls visit(name, value) for each dropout.
    template <typename Some, typename Visit>
    static void visit_dropouts(Some& some, Visit visit) {
      Config::fields([&](const auto& field) {
        if constexpr (std::is_same_v<decltype(field.member), float Config::*>) {
          if (is_dropout(field.name)) {
            visit(field.name, some.*field.member);
          }
        }
      });
    }

    Config config;
  };

  std::shared_ptr<const AnyConfig> held_;  // never changes, so copies share it
};

/// The text of config.json; see ModelConfig.
inline std::string to_json(const ModelConfig& config) {
  return config.to_json();
}

}  // namespace dragoman::models
