#include "data/token_text.h"

#include <atomic>
#include <cctype>

#include "base/error.h"
#include "base/worker_pool.h"

namespace dragoman::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20U;

// The end of the block that begins at `begin`: behind a line end that no white space follows.
size_t block_end(std::string_view text, size_t begin) {
  for (size_t end = begin + kBlockBytes; end < text.size(); ++end) {
    if (text[end - 1] == '\n' && std::isspace(static_cast<unsigned char>(text[end])) == 0) {
      return end;
    }
  }
  return text.size();
}

struct Block {
  std::string_view text;
  bool begins_document;
  bool ends_document;
};

std::vector<Block> blocks_of(const std::vector<std::string>& documents) {
  std::vector<Block> blocks;
  for (const std::string_view document : documents) {
    for (size_t begin = 0; begin < document.size();) {
      const size_t end = block_end(document, begin);
      blocks.push_back({document.substr(begin, end - begin), begin == 0, end == document.size()});
      begin = end;
    }
  }
  return blocks;
}

}  // namespace

TokenText encode_documents(const std::vector<std::string>& documents, const Vocabulary& vocabulary, int threads) {
  const std::vector<Block> blocks = blocks_of(documents);
  std::vector<std::vector<int32_t>> encoded(blocks.size());
  std::atomic<size_t> next = 0;
  base::WorkerPool pool(threads);
  pool.run([&](int) {
    for (size_t block = next++; block < blocks.size(); block = next++) {
      encoded[block] = vocabulary.encode_checked(blocks[block].text, "text");
    }
  });
  const std::vector<int32_t>& ends = vocabulary.special().eos;
  TokenText text;
  text.has_bos = vocabulary.adds_bos() && vocabulary.special().bos >= 0;
  if (!ends.empty() && !text.has_bos) {
    text.ids.push_back(ends.front());
    text.starts.front() = 1;
  }
  for (size_t block = 0; block < blocks.size(); ++block) {
    if (text.has_bos && blocks[block].begins_document) {
      text.ids.push_back(vocabulary.special().bos);
    }
    text.ids.insert(text.ids.end(), encoded[block].begin(), encoded[block].end());
    text.bytes += blocks[block].text.size();
    if (blocks[block].ends_document) {
      if (!ends.empty()) {
        text.ids.push_back(ends.front());
      }
      text.starts.push_back(text.ids.size());
    }
  }
  return text;
}

}  // namespace dragoman::data
