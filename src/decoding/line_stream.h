#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/translation_request.h"

namespace dragoman::decoding {

/// Tells `on_token` of the pieces of one line, whose parts are translated at the same time, in the order of the parts:
/// those of the first unfinished part at once, those of a later one when the parts before it have ended.
/// Any number of threads may use one object; on_token runs in one of them at a time.
class LineStream {
 public:
  /// @param parts  1 at least
  LineStream(std::function<bool(const StreamedToken&)> on_token, data::Vocabulary target, size_t parts);

  /// See SentenceRequest::on_ids, here of part `part`: 0, 1, 2 ... @return false when the line is to be cancelled
  bool take(size_t part, std::span<const int32_t> new_ids, bool is_end);
  /// All parts have ended, those too that were stopped before they began and were never heard of.
  void end();

 private:
  struct Part {
    std::vector<int32_t> ids;
    bool ended = false;
  };

  void tell_all();
  bool tell(const std::vector<int32_t>& ids);

  std::function<bool(const StreamedToken&)> on_token_;
  data::Vocabulary target_;
  std::mutex mutex_;
  std::vector<Part> parts_;
  size_t current_ = 0;    // the part that is told of
  size_t told_ = 0;       // pieces of it
  size_t position_ = 0;   // of the next piece in the line
  std::string finished_;  // text of the parts before
  bool cancelled_ = false;
};

}  // namespace dragoman::decoding
