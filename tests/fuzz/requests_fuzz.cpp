// libFuzzer: any bytes as those of a connection, through reader, fields and plans. scripts/fuzz.sh runs it.
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "serving/http/request_fields.h"
#include "serving/http/request_reader.h"
#include "serving/text/text_plan.h"

namespace {

using namespace dragoman;
using serving::RequestReader;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void look_at(const serving::Request& request, const serving::HttpLimits& limits) {
  require(request.body.size() <= limits.body_bytes);
  require(request.headers.size() <= limits.fields);
  require(request.path.find_first_of(" \r\n") == std::string::npos);
  try {
    const serving::RequestFields fields(request);
    for (const std::string& text : fields.texts("q")) {
      require(base::is_valid_utf8(text));
      const serving::TextPlan html = serving::plan_html(text);
      const serving::TextPlan plain = serving::plan_text(text);
      require(html.pieces.size() <= 3 * text.size() + 3 && plain.pieces.size() <= 2 * text.size() + 1);
      require(serving::unchanged(html) == text);
      decoding::Translation translation;
      translation.text = "a b, c";
      static_cast<void>(serving::assemble(html, std::vector<decoding::Translation>(html.lines(), translation)));
    }
    static_cast<void>(fields.number("alternatives", 0));
  } catch (const serving::HttpError& error) {
    require(error.status() == serving::status::kBadRequest || error.status() == serving::status::kUnsupportedMediaType);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  serving::HttpLimits limits;
  limits.body_bytes = size_t{4} << 10;
  limits.head_bytes = size_t{1} << 10;
  RequestReader reader(limits);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  // The first byte says in what pieces the others arrive.
  const size_t piece = rest.empty() ? 1 : 1 + static_cast<unsigned char>(rest.front());
  rest.remove_prefix(rest.empty() ? 0 : 1);
  while (!rest.empty() && reader.state() != RequestReader::State::kBad) {
    reader.add(rest.substr(0, piece));
    rest.remove_prefix(std::min(piece, rest.size()));
    while (reader.state() == RequestReader::State::kDone) {
      look_at(reader.take_request(), limits);
    }
  }
  if (reader.state() == RequestReader::State::kBad) {
    require(!serving::reason_of(reader.refusal().status).empty());
  }
  return 0;
}
