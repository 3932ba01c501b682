#pragma once

#include "kernels/columns.h"
#include "kernels/scan.h"

namespace dragoman::kernels {

/// Scans in float32. Sentences do not depend on each other, and a row not on later rows.
void scan_cpu(const ScanForward& scan);
void scan_backward_cpu(const ScanBackward& scan);
/// Sums of columns: float32 in, float64 out, added in the order of the rows.
void column_sums_cpu(const Tensor& x, const Tensor& y, Tensor& sums);
void map_columns_cpu(const ColumnMap& map);

}  // namespace dragoman::kernels
