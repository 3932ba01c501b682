#pragma once

#include "kernels/columns.h"
#include "kernels/scan.h"

namespace dragoman::kernels::reference {

// Plain float64 loops: the definitions of scans and of maps of columns.

void scan(const ScanForward& scan);
void scan_backward(const ScanBackward& scan);
void column_sums(const Tensor& x, const Tensor& y, Tensor& sums);
void map_columns(const ColumnMap& map);

}  // namespace dragoman::kernels::reference
