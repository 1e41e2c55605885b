/// Runs that take a moment, and whether two of them came to the same bits.
#pragma once

#include "tapehead/nn/transformer.h"
#include "tapehead/train/config.h"
#include "tapehead/train/optimizer.h"
#include "tapehead/train/trainer.h"

namespace tapehead::testing {

/// Ten steps of a tiny model with every part switched on, dropout too; its 7 sequences make shards of 2, 2, 2
/// and 1.
Config tiny_config();

/// The values, copied into an array of their own.
Tensor values_of(const Parameters& parameters);
bool same_bits(const Parameters& a, const Parameters& b);
/// Whether they have done as many updates and hold the same averages.
bool same_bits(const Optimizer& a, const Optimizer& b);
/// Whether they are at the same step, with the same parameters and optimizer.
bool same_bits(const Trainer& a, const Trainer& b);

}  // namespace tapehead::testing
