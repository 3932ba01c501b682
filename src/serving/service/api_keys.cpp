#include "serving/service/api_keys.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace dragoman::serving {
namespace {

constexpr uint64_t kMostKeyFileBytes = uint64_t{16} << 20;

bool is_sha256(std::string_view word) {
  constexpr size_t kDigits = 64;
  return word.size() == kDigits && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

int64_t limit_of(const std::vector<std::string>& words, size_t at, const std::string& place) {
  int64_t limit = 0;
  if (at < words.size()) {
    const std::string& word = words[at];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), limit);
    base::check_data(error == std::errc() && end == word.data() + word.size() && limit >= 0,
                     "{}: \"{}\" must be a number, requests or characters a minute; 0 = no limit", place,
                     base::repair_utf8(word));
  }
  return limit;
}

}  // namespace

bool RateBucket::has(int64_t amount, Clock::time_point now) {
  const std::chrono::duration<double, std::ratio<60>> minutes = now - filled_;
  const auto full = static_cast<double>(per_minute_);
  level_ = std::min(full, level_ + minutes.count() * full);
  filled_ = now;
  return per_minute_ == 0 || level_ >= std::min(static_cast<double>(amount), full);
}

ApiKeys::ApiKeys(const std::filesystem::path& file) {
  size_t number = 0;
  for (const std::string& line : base::split_lines(base::read_file(file, kMostKeyFileBytes))) {
    ++number;
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
      words.push_back(word);
    }
    if (words.empty() || words.front().starts_with('#')) {
      continue;
    }
    const std::string place = fmt::format("{}: line {}", file.string(), number);
    constexpr size_t kMostWords = 4;
    base::check_data(is_sha256(words.front()),
                     "{}: the first word must be the SHA-256 of a key, 64 hexadecimal digits in lower case; printf %s "
                     "KEY | sha256sum prints it",
                     place);
    base::check_data(words.size() > 1 && words.size() <= kMostWords,
                     "{}: must be HASH NAME [REQUESTS CHARACTERS], has {} words", place, words.size());
    const Key key{RateBucket(limit_of(words, 2, place)), RateBucket(limit_of(words, 3, place))};
    base::check_data(keys_.emplace(words.front(), key).second, "{}: this key appears twice; keep one", place);
  }
}

ApiKeys::Verdict ApiKeys::use(std::string_view key, int64_t characters, RateBucket::Clock::time_point now) {
  const std::string hash = base::sha256_hex(key);
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(hash);
  if (found == keys_.end()) {
    return Verdict::kUnknown;
  }
  Key& known = found->second;
  const bool has_requests = known.requests.has(1, now);
  if (!known.characters.has(characters, now) || !has_requests) {
    return Verdict::kTooMuch;
  }
  known.requests.spend(1);
  known.characters.spend(characters);
  known.used_characters += characters;
  return Verdict::kGood;
}

int64_t ApiKeys::characters_of(std::string_view key) const {
  const std::string hash = base::sha256_hex(key);
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(hash);
  return found == keys_.end() ? 0 : found->second.used_characters;
}

}  // namespace dragoman::serving
