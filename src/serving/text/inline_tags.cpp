#include "serving/text/inline_tags.h"

#include <algorithm>

#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

// An element or a point. The elements inside it have the next numbers, up to `end`.
struct Node {
  size_t first_tag = 0;
  size_t last_tag = 0;  // its end tag; first_tag for a point
  size_t parent = 0;
  size_t end = 0;
  size_t source_begin = 0;  // characters of the source
  size_t source_end = 0;
  size_t begin = 0;  // words of the translation
  size_t stop = 0;   // equal to `begin`: the node has no word and stands before that word
  bool is_placed = false;

  bool has_words() const { return source_end > source_begin; }
};

class Placement {
 public:
  Placement(std::span<const InlineTag> tags, const AlignedText& sentence)
      : tags_(tags), text_(sentence.text), words_(tag_words(sentence)) {
    read_tags(count_without_spaces(sentence.source));
    for (const TagWord& word : words_) {
      owners_.push_back(innermost(word.source));
    }
    nodes_[0].stop = words_.size();
    for (size_t node = 0; node < nodes_.size(); ++node) {
      place_children(node);
    }
  }

  std::string text() const {
    std::string result = gap(0);
    write(0, result);
    return result + gap(words_.size());
  }

 private:
  // Node 0 is the whole sentence. The others are in the order of their first tags.
  void read_tags(size_t n_source) {
    nodes_.push_back({.last_tag = tags_.size(), .source_end = n_source});
    size_t open = 0;
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      if (tags_[tag].kind == InlineTag::Kind::kEnd) {
        nodes_[open].last_tag = tag;
        nodes_[open].source_end = tags_[tag].at;
        nodes_[open].end = nodes_.size();
        open = nodes_[open].parent;
        continue;
      }
      nodes_.push_back({.first_tag = tag,
                        .last_tag = tag,
                        .parent = open,
                        .end = nodes_.size() + 1,
                        .source_begin = tags_[tag].at,
                        .source_end = tags_[tag].at});
      open = tags_[tag].kind == InlineTag::Kind::kStart ? nodes_.size() - 1 : open;
    }
    nodes_[0].end = nodes_.size();
  }

  // Returns the smallest node that has this character of the source.
  size_t innermost(size_t character) const {
    size_t found = 0;
    for (size_t node = 1; node < nodes_.size(); ++node) {
      if (nodes_[node].source_begin <= character && character < nodes_[node].source_end) {
        found = node;
      }
    }
    return found;
  }

  std::vector<size_t> children(size_t parent) const {
    std::vector<size_t> found;
    for (size_t node = parent + 1; node < nodes_[parent].end; node = nodes_[node].end) {
      found.push_back(node);
    }
    return found;
  }

  // The elements inside one element. 0 means none.
  struct Level {
    size_t begin;  // words
    size_t stop;
    std::vector<size_t> children;
    std::vector<size_t> wanted;  // for each word of the sentence, the child to which it attends
    std::vector<size_t> taken;   // for each word, the child that has it
  };

  // Elements first: the points are placed between them.
  void place_children(size_t parent) {
    Level level{nodes_[parent].begin, nodes_[parent].stop, children(parent), {}, std::vector<size_t>(words_.size(), 0)};
    for (const size_t owner : owners_) {
      const auto behind = std::ranges::upper_bound(level.children, owner);
      const size_t child = behind == level.children.begin() ? 0 : *(behind - 1);
      level.wanted.push_back(child != 0 && owner < nodes_[child].end ? child : 0);
    }
    for (const size_t child : level.children) {
      if (has_all_words(child)) {
        put(child, level.begin, level.stop, level);
      } else if (nodes_[child].has_words()) {
        place_at_best_run(child, level);
      }
    }
    for (const size_t child : level.children) {
      if (nodes_[child].has_words() && !nodes_[child].is_placed) {
        place_at_nearest_word(child, level);
      }
    }
    for (const size_t child : level.children) {
      if (!nodes_[child].is_placed) {
        stand_between(child, level);
      }
    }
  }

  // An element around the whole content of its parent.
  bool has_all_words(size_t child) const {
    const Node& parent = nodes_[nodes_[child].parent];
    return parent.has_words() && nodes_[child].source_begin == parent.source_begin &&
           nodes_[child].source_end == parent.source_end && parent.stop > parent.begin;
  }

  // Gives the element the free run of words with the most words that attend to it and the fewest others. Punctuation
  // does not count, since its attention is unreliable.
  void place_at_best_run(size_t child, Level& level) {
    int best = 0, sum = 0;
    bool has_own = false;
    size_t begin = level.begin, best_begin = 0, best_stop = 0;
    for (size_t word = level.begin; word < level.stop; ++word) {
      const size_t wanted = words_[word].has_letters ? level.wanted[word] : 0;
      const bool is_others = wanted != 0 && wanted != child;
      if (is_others || sum < 0 || !has_own) {
        sum = 0;
        has_own = false;
        begin = word;
      }
      has_own = has_own || wanted == child;
      sum += is_others || !words_[word].has_letters ? 0 : wanted == child ? 1 : -1;
      if (sum > best) {
        best = sum;
        best_begin = begin;
        best_stop = word + 1;
      }
    }
    if (best > 0) {
      put(child, best_begin, best_stop, level);
    }
  }

  // Returns the attention weight of a word for an element. Without weights, nearer words get more.
  static float weight_on(const Node& node, const TagWord& word) {
    if (word.looks.empty()) {
      const size_t distance = word.source < node.source_begin ? node.source_begin - word.source
                              : word.source < node.source_end ? 0
                                                              : word.source - node.source_end + 1;
      return 1.0F / static_cast<float>(1 + distance);
    }
    float weight = 0.0F;
    for (const TagWord::Look& look : word.looks) {
      weight += node.source_begin <= look.source && look.source < node.source_end ? look.weight : 0.0F;
    }
    return weight;
  }

  // Punctuation is used only if no word is free.
  void place_at_nearest_word(size_t child, Level& level) {
    for (const bool has_letters : {true, false}) {
      float most = 0.0F;
      size_t nearest = level.stop;
      for (size_t word = level.begin; word < level.stop; ++word) {
        const bool is_free = level.taken[word] == 0 && words_[word].has_letters == has_letters;
        const float weight = is_free ? weight_on(nodes_[child], words_[word]) : 0.0F;
        if (weight > most) {
          most = weight;
          nearest = word;
        }
      }
      if (nearest < level.stop) {
        return put(child, nearest, nearest + 1, level);
      }
    }
  }

  // Chooses the place with the fewest words on the wrong side: before it, but attending behind it, and the reverse. Of
  // several such places, it chooses by the punctuation.
  void stand_between(size_t child, Level& level) {
    std::pair<int, int> wrong, fewest;  // words, punctuation
    size_t best = level.begin;
    for (size_t place = level.begin + 1; place <= level.stop; ++place) {
      const TagWord& before = words_[place - 1];
      int& count = before.has_letters ? wrong.first : wrong.second;
      count += before.source < nodes_[child].source_begin ? -1 : 1;
      const bool is_inside =
          place < level.stop && level.taken[place] != 0 && level.taken[place - 1] == level.taken[place];
      if (wrong < fewest && !is_inside) {
        fewest = wrong;
        best = place;
      }
    }
    put(child, best, best, level);
  }

  void put(size_t node, size_t begin, size_t stop, Level& level) {
    nodes_[node].begin = begin;
    nodes_[node].stop = stop;
    nodes_[node].is_placed = true;
    std::fill(level.taken.begin() + static_cast<ptrdiff_t>(begin), level.taken.begin() + static_cast<ptrdiff_t>(stop),
              node);
  }

  // Returns the spaces before a word. The number of words stands for the end of the sentence.
  std::string gap(size_t word) const {
    const size_t begin = word == 0 ? 0 : words_[word - 1].end;
    const size_t end = word == words_.size() ? text_.size() : words_[word].begin;
    return escaped_html(text_.substr(begin, end - begin));
  }

  std::string all_tags(const Node& node) const {
    std::string bytes;
    for (size_t tag = node.first_tag; tag <= node.last_tag; ++tag) {
      bytes += tags_[tag].bytes;
    }
    return bytes;
  }

  enum class Place { kBeforeSpace, kAfterSpace };

  // Returns the children without words that stand before a word.
  std::vector<size_t> points_at(const std::vector<size_t>& own, size_t word, Place place) const {
    std::vector<size_t> found;
    std::ranges::copy_if(own, std::back_inserter(found), [&](size_t child) {
      const Node& node = nodes_[child];
      return node.begin == node.stop && node.begin == word &&
             tags_[node.first_tag].after_space == (place == Place::kAfterSpace);
    });
    return found;
  }

  // Writes a node without words that followed a space. A point also gets the spaces that the words beside it leave out.
  void write_after_space(size_t child, const Node& around, std::string& result) const {
    const Node& node = nodes_[child];
    const InlineTag& tag = tags_[node.first_tag];
    if (tag.has_text && node.begin > around.begin && !result.ends_with(' ')) {
      result += ' ';
    }
    result += all_tags(node);
    const bool has_gap = tag.has_text || node.begin == 0 || !gap(node.begin).empty();
    if (tag.kind == InlineTag::Kind::kPoint && tag.before_space && node.begin < around.stop && has_gap) {
      result += ' ';
    }
  }

  // Writes the content of an element, without the spaces around it.
  void write(size_t parent, std::string& result) const {
    const Node& around = nodes_[parent];
    const std::vector<size_t> own = children(parent);
    for (size_t word = around.begin; word <= around.stop;) {
      const bool is_between = word > around.begin && word < around.stop;
      for (const size_t child : points_at(own, word, Place::kBeforeSpace)) {
        result += all_tags(nodes_[child]);
      }
      result += is_between ? gap(word) : "";
      for (const size_t child : points_at(own, word, Place::kAfterSpace)) {
        write_after_space(child, around, result);
      }
      word = word < around.stop ? write_word(own, word, result) : word + 1;
    }
  }

  // Writes a word, or the element that begins with it. Returns the next word.
  size_t write_word(const std::vector<size_t>& own, size_t word, std::string& result) const {
    for (const size_t child : own) {
      if (nodes_[child].begin <= word && word < nodes_[child].stop) {
        result += tags_[nodes_[child].first_tag].bytes;
        write(child, result);
        result += tags_[nodes_[child].last_tag].bytes;
        return nodes_[child].stop;
      }
    }
    result += escaped_html(text_.substr(words_[word].begin, words_[word].end - words_[word].begin));
    return word + 1;
  }

  std::span<const InlineTag> tags_;
  std::string_view text_;
  std::vector<TagWord> words_;
  std::vector<size_t> owners_;  // for each word, the innermost node to which it attends
  std::vector<Node> nodes_;
};

}  // namespace

std::string with_tags(std::span<const InlineTag> tags, const AlignedText& sentence) {
  return Placement(tags, sentence).text();
}

}  // namespace dragoman::serving
