/// The loss by kind of position over a run: plateau, drop and hump at one look.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/study/formation.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// Above, the losses with ln V, the floors, the steps in which the heads form, and both faces of the bump;
/// below, the accuracy on induction positions. `metrics` is a run's metrics table, `floors` its table of
/// floors, or one without rows.
Figure loss_figure(const CsvTable& metrics, const CsvTable& floors, const Formation& formation,
                   const Config& config, const FigureSize& size = kPageSize);

}  // namespace tapehead
