#include "data/chat/template_function.h"

#include "base/error.h"

namespace dragoman::data {

const std::string& text_argument(const TemplateValue& value, const char* what) {
  base::check_data(value.is(TemplateValue::Kind::kText), "{} is {}, must be a text", what, described(value));
  return value.as_text();
}

int64_t whole_argument(const TemplateValue& value, const char* what) {
  base::check_data(value.is(TemplateValue::Kind::kInteger) || value.is(TemplateValue::Kind::kBool),
                   "{} is {}, must be a whole number", what, described(value));
  return value.as_integer();
}

}  // namespace dragoman::data
