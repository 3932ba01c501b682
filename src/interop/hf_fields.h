#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "interop/hf_language_config.h"

namespace dragoman::interop {

/// The largest sizes that a config.json may name; they keep a wrong file from asking for all memory.
inline constexpr int64_t kMaxVocabulary = 1 << 24;
inline constexpr int64_t kMaxPositions = 1 << 20;
inline constexpr int64_t kMaxWidth = 65'536;
inline constexpr int64_t kMaxHeads = 1024;

/// The keys of a config.json of transformers, each read with its type and range. The object notes which keys were read,
/// so that `refuse_unknown` can refuse all others. A key that is null counts as missing.
/// All functions throw Error(kBadData) with file, key and value.
class HfFields {
 public:
  /// @param object  Requires: outlives this object. @param place  of the object in the file; empty for the outermost
  HfFields(const nlohmann::json& object, std::string file_name, const std::string& place = {});

  [[nodiscard]] const std::string& file() const { return file_; }
  /// Returns the name of a key as messages write it: "rope_parameters.factor".
  [[nodiscard]] std::string name_of(const std::string& key) const { return fields_.name_of(key); }
  [[nodiscard]] bool has(const std::string& key);
  /// Returns true if the key exists, even as null.
  [[nodiscard]] bool is_written(const std::string& key) const;
  [[nodiscard]] int64_t integer(const std::string& key, int64_t low, int64_t high);
  [[nodiscard]] int64_t integer(const std::string& key, int64_t low, int64_t high, int64_t otherwise);
  [[nodiscard]] double number(const std::string& key, double low, double high, double otherwise);
  [[nodiscard]] bool flag(const std::string& key, bool otherwise);
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise);
  [[nodiscard]] const nlohmann::json& value(const std::string& key);

  /// Refuses another value than the one that dragoman has. A missing key has this value.
  void must_be(const std::string& key, bool value);

  /// Refuses a key that was not read, is not null and is not in the table of keys that do not change the logits.
  void refuse_unknown() const;

 private:
  const nlohmann::json& object_;
  std::string file_;
  base::JsonFields fields_;
  std::set<std::string> read_;
};

/// Reads bos_token_id, pad_token_id and eos_token_id, of which the last may be a list.
[[nodiscard]] HfTokenIds read_token_ids(HfFields& fields);

/// Reads the name of an activation. @param otherwise  the default of the layout
[[nodiscard]] kernels::Activation read_activation(HfFields& fields, const std::string& key,
                                                  const std::string& otherwise);

/// Returns the activation that transformers calls `name`. @param key  of config.json, for errors
[[nodiscard]] kernels::Activation activation_named(std::string_view name, const std::string& file_name,
                                                   const std::string& key);

/// Returns the name of an activation in transformers; empty if transformers has none.
[[nodiscard]] std::string_view hf_name_of(kernels::Activation activation);

/// Reads the rotary positions of a model into `options`, from `rope_parameters`, or `rope_theta` and `rope_scaling`.
void read_rotation(HfFields& fields, int64_t max_positions, nn::LayerOptions& options);

}  // namespace dragoman::interop
