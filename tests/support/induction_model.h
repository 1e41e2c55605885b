/// A perfect induction circuit, set by hand.
#pragma once

#include "tapehead/nn/transformer.h"

namespace tapehead::testing {

/// Two layers of two heads, attention alone, which copy what followed the query's token before; on positions
/// that copy nothing they say nothing. The stream has four parts side by side: the token, the position, the
/// previous token and the answer, each as one number among zeros.
///
/// Head 0 of layer 0 looks one position back and writes the token it finds there as the previous token. Head
/// 0 of layer 1 looks for positions whose previous token is the query's (K-composition), evenly at all of
/// them, and writes their token as the answer, which is read out `gain` times. Weights of attention are
/// exactly 0 and 1 (or shares of equals). Heads 1 write nothing.
Transformer perfect_induction_model(Index vocabulary, Index length, double gain = 20);

}  // namespace tapehead::testing
