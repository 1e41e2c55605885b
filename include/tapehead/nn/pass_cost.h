/// What a forward pass that is recorded, and the way back through it, take: operations and memory, by sizes
/// alone.
///
/// The model's modules are walked op by op, as they call them, on a tape that holds sizes in place of numbers
/// and goes back as Tape does. Nothing is allocated or computed, so a model may be larger than the machine.
/// What is not counted: edits, token ids, and the half MiB a thread that matrix products pack numbers into.
#pragma once

#include "tapehead/nn/model_config.h"

namespace tapehead {

struct PassCost {
  Index operations = 0;   ///< of matrix products, both ways, as gemm_operations counts them
  Index array_bytes = 0;  ///< at the peak, as memory_use counts them: values that are kept for the way back,
                          ///< gradients of values, what a step holds while it runs
  Index mask_bytes = 0;   ///< of what dropout kept, a byte a number, which memory_use does not see
};

/// Of the loss on (batch, length) tokens, both at least 1, and its gradients, whose own array is not counted.
/// Throws Error for sizes that no Transformer has, and where the numbers are too large to count.
PassCost pass_cost(const ModelConfig& config, Index batch, Index length);

/// Bytes of the model's own arrays: its parameters, and its tables of fixed positions.
Index model_bytes(const ModelConfig& config);

}  // namespace tapehead
