#include "decoding/line_stream.h"

#include "decoding/translation_parts.h"

namespace dragoman::decoding {

LineStream::LineStream(std::function<bool(const StreamedToken&)> on_token, data::Vocabulary target, size_t parts)
    : on_token_(std::move(on_token)), target_(std::move(target)), parts_(parts) {}

bool LineStream::take(size_t part, std::span<const int32_t> new_ids, bool is_end) {
  const std::lock_guard lock(mutex_);
  parts_[part].ids.insert(parts_[part].ids.end(), new_ids.begin(), new_ids.end());
  parts_[part].ended = is_end;
  tell_all();
  return !cancelled_;
}

void LineStream::end() {
  const std::lock_guard lock(mutex_);
  for (Part& part : parts_) {
    part.ended = true;
  }
  tell_all();
}

void LineStream::tell_all() {
  while (!cancelled_ && current_ < parts_.size()) {
    const Part& current = parts_[current_];
    cancelled_ = !tell(current.ids);
    if (!current.ended) {
      break;
    }
    finished_ = joined_text(finished_, data::decode_line(target_, current.ids));
    ++current_;
    told_ = 0;
  }
}

// Of the pieces of the current part that are new.
bool LineStream::tell(const std::vector<int32_t>& ids) {
  while (told_ < ids.size()) {
    const int32_t id = ids[told_++];
    const std::string text = joined_text(finished_, data::decode_line(target_, std::span(ids).first(told_)));
    if (!on_token_({position_++, id, target_.piece(id), text})) {
      return false;
    }
  }
  return true;
}

}  // namespace dragoman::decoding
