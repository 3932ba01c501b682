#include "interrupt.h"

namespace dragoman::python {
namespace {

namespace nb = nanobind;
constexpr int kMilliseconds = 50;  // between two looks for Ctrl-C; the end of the work is noticed at once

}  // namespace

void wait_interruptibly(const std::function<bool(int)>& is_done, std::stop_source& stop) {
  while (true) {
    {
      const nb::gil_scoped_release released;
      if (is_done(kMilliseconds)) {
        return;
      }
    }
    if (PyErr_CheckSignals() != 0) {
      stop.request_stop();
      {
        const nb::gil_scoped_release released;
        while (!is_done(kMilliseconds)) {
        }
      }
      throw nb::python_error();
    }
  }
}

}  // namespace dragoman::python
