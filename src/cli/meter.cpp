#include "cli/meter.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "cli/text_output.h"

namespace dragoman::cli {

std::unique_ptr<report::Meter> make_meter(std::string task, std::string unit) {
  report::MeterOptions options = report::meter_options_for(STDERR_FILENO);
  options.live = options.live && !is_quiet();
  return std::make_unique<report::Meter>(std::cerr, std::move(task), std::move(unit), std::move(options));
}

}  // namespace dragoman::cli
