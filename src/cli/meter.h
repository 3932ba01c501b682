#pragma once

#include <memory>
#include <string>

#include "report/meter.h"

namespace dragoman::cli {

/// Returns a meter on standard error, which shows nothing if that is no terminal or --quiet was given.
std::unique_ptr<report::Meter> make_meter(std::string task, std::string unit);

}  // namespace dragoman::cli
