#include "data/chat/template_item.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "data/chat/template_value.h"

namespace dragoman::data {
namespace {

using ValueKind = TemplateValue::Kind;
using Value = TemplateValue;

// A number counts from the end if it is below 0.
Value item_at(const Value& value, int64_t place, TemplateBudget& budget) {
  const auto at = [&](const auto& all, auto&& make) {
    const auto size = static_cast<int64_t>(all.size());
    const int64_t index = place < 0 ? place + size : place;
    return index >= 0 && index < size ? make(all[static_cast<size_t>(index)])
                                      : Value::undefined(fmt::format("item {}", place));
  };
  if (value.is(ValueKind::kText)) {
    budget.spend_bytes(4 * value.as_text().size());
    return at(base::decode_utf8(value.as_text()), [](char32_t character) {
      return Value::text(base::encode_utf8({&character, 1}));
    });
  }
  return value.is(ValueKind::kList) ? at(value.items(), [](const Value& item) { return item; })
                                    : Value::undefined(fmt::format("item {}", place));
}

}  // namespace

TemplateValue template_item(const TemplateValue& value, const TemplateValue& name, const std::string& place,
                            TemplateBudget& budget) {
  if (value.is(ValueKind::kUndefined)) {
    base::fail(base::ErrorKind::kBadData, "{} is undefined, so it has no {}",
               value.missing_name().empty() ? place : value.missing_name(), written(name));
  }
  if (name.is(ValueKind::kInteger)) {
    return item_at(value, name.as_integer(), budget);
  }
  const bool has_names = (value.is(ValueKind::kDict) || value.is(ValueKind::kNamespace)) && name.is(ValueKind::kText);
  budget.spend(has_names ? value.entries().size() : 1);
  const Value* found = has_names ? value.find(name.as_text()) : nullptr;
  return found != nullptr ? *found : Value::undefined(name.is(ValueKind::kText) ? place + "." + name.as_text() : place);
}

}  // namespace dragoman::data
