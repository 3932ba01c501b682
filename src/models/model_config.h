#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman::models {

/// The sizes that code for all architectures needs.
struct ModelSizes {
  int64_t source_vocab_size = 0;  ///< pieces; 0 where the model reads no source
  int64_t target_vocab_size = 0;  ///< pieces
  int64_t d_model = 0;            ///< D, width of the rows that the output layer takes
  int64_t max_positions = 0;      ///< longest source or target in tokens, sentence end included
};

/// Calls the `to_json(config)` of a configuration's own namespace.
template <typename Config>
std::string text_of(const Config& config) {
  return to_json(config);
}

/// The configuration of a model of any architecture, as a value. It holds the checked struct of one architecture.
/// Code for all architectures reads sizes() and to_json(); code that explains one architecture asks get_if().
///
/// Requires of `Config`, beside being copyable: a constant `Config::kArchitecture` (the name in config.json),
/// `check()`, `sizes()`, and a free function `to_json(config)`.
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

  /// Returns: the struct of the architecture; null if the configuration is of another one.
  template <typename Config>
  const Config* get_if() const {
    const auto* held = dynamic_cast<const Held<Config>*>(held_.get());
    return held == nullptr ? nullptr : &held->config;
  }

 private:
  struct AnyConfig {
    virtual ~AnyConfig() = default;
    virtual std::string_view architecture() const = 0;
    virtual ModelSizes sizes() const = 0;
    virtual void check() const = 0;
    virtual std::string to_json() const = 0;
  };

  template <typename Config>
  struct Held : AnyConfig {
    explicit Held(Config held) : config(std::move(held)) {}
    std::string_view architecture() const override { return Config::kArchitecture; }
    ModelSizes sizes() const override { return config.sizes(); }
    void check() const override { config.check(); }
    std::string to_json() const override { return models::text_of(config); }

    Config config;
  };

  std::shared_ptr<const AnyConfig> held_;  // never changes, so copies share it
};

/// The text of config.json; see ModelConfig.
inline std::string to_json(const ModelConfig& config) {
  return config.to_json();
}

}  // namespace dragoman::models
