#include "serving/service/translated_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace dragoman::serving {

std::string TranslatedFiles::keep(std::string bytes, Clock::time_point now) {
  std::random_device device;  // random bits of the system; 128 are used
  const std::string name = fmt::format("{:08x}{:08x}{:08x}{:08x}.txt", device(), device(), device(), device());
  const std::lock_guard lock(mutex_);
  bytes_ += bytes.size();
  files_.push_back({name, std::move(bytes), now + kLifetime});
  drop_old(now);
  return name;
}

std::optional<std::string> TranslatedFiles::find(const std::string& name, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  drop_old(now);
  const auto found = std::ranges::find(files_, name, &File::name);
  return found == files_.end() ? std::nullopt : std::optional(found->bytes);
}

void TranslatedFiles::drop_old(Clock::time_point now) {
  while (!files_.empty() && (files_.front().until <= now || bytes_ > kMostBytes)) {
    bytes_ -= files_.front().bytes.size();
    files_.pop_front();
  }
}

}  // namespace dragoman::serving
