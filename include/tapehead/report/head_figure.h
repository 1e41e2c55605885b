/// What every head looks at over a run: when the previous-token head and the induction heads come up.
#pragma once

#include "tapehead/interp/head_scores.h"
#include "tapehead/report/style.h"
#include "tapehead/study/formation.h"
#include "tapehead/train/config.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// One panel a score (previous token, induction, and where the table has them copying and K-composition), one
/// line a head, with the score of chance and the steps in which the heads form. `heads` is a run's table of
/// head scores; `chance` is of its evaluation batch.
Figure head_figure(const CsvTable& heads, const ScoreValues& chance, const Formation& formation,
                   const Config& config, const FigureSize& size = kPageSize);

}  // namespace tapehead
