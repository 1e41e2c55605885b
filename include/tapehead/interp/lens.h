/// The lens: what the model would say if its residual stream were read out after the embedding, or after a
/// layer, instead of at the end (nostalgebraist 2020, "interpreting GPT: the logit lens").
///
/// The read-out is the model's own: final norm, with the scale of the stream that it reads, and unembedding.
/// (With the *final* stream's scale held, the parts of the stream sum to the logits: that is attribution, and
/// another question.) A stream that says nothing here may still hold what later layers use.
#pragma once

#include <vector>

#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

/// An evaluation a place of read-out: first after the embedding, then after each layer; the last is the plain
/// evaluation, to the bit. The same bits for any number of threads.
std::vector<Evaluation> lens(const Transformer& model, const Batch& batch,
                             const EvaluateOptions& options = {});

/// What is read out of one sequence at one position: probabilities (layers + 1, V). Throws Error unless
/// `tokens` is one sequence that has the position.
Tensor lens_at(const Transformer& model, const Tokens& tokens, Index position);

/// A row of such a table: tokens and their probabilities, the likeliest first, of equals the lowest id.
struct Guess {
  std::int32_t token = 0;
  double probability = 0;
};
std::vector<Guess> likeliest(const Tensor& probabilities, Index row, Index count);

/// One row a place of read-out: layer (how many layers are run: 0 is the embedding), loss, loss_induction,
/// loss_noise, accuracy_induction, accuracy_noise, step, sequences.
CsvTable lens_table(const std::vector<Evaluation>& evaluations, Index step);

}  // namespace tapehead
