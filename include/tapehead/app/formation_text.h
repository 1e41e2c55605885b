/// What there is to say of a run's formation, or of several, for people.
#pragma once

#include <span>
#include <string>

#include "tapehead/interp/head_scores.h"
#include "tapehead/study/formation_report.h"

namespace tapehead::app {

/// One run: each measure a line, then the order in which scores and losses moved. `chance` is what even
/// attention scores on its evaluation batch.
std::string formation_text(const std::string& name, const FormationReport& report, const ScoreValues& chance);

/// Several: two tables with a row a run, and the quartiles over all.
std::string formations_text(std::span<const std::string> names, std::span<const FormationReport> reports);

/// The quartiles alone, a row a measure.
std::string quartiles_text(std::span<const FormationReport> reports);

}  // namespace tapehead::app
