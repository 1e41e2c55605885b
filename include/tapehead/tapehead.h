/// The front door: everything a program that trains and takes apart a Transformer needs.
///
/// Start at autograd/tape.h to read how gradients are made, at nn/transformer.h to read the model.
#pragma once

#include "tapehead/autograd/attention.h"       // ops of attention
#include "tapehead/autograd/elementary.h"      // ops to write formulas with
#include "tapehead/autograd/fused.h"           // the other ops of a transformer
#include "tapehead/autograd/gradient_check.h"  // gradients against finite differences
#include "tapehead/autograd/matmul.h"          // products of stacks of matrices
#include "tapehead/autograd/recurrence.h"      // a plain recurrence, step by step
#include "tapehead/autograd/tape.h"            // the recording, and the way back
#include "tapehead/base/random.h"              // counter-based generators
#include "tapehead/exchange/export.h"          // models for other programs
#include "tapehead/exchange/gpt2.h"            // somebody else's GPT-2
#include "tapehead/interp/ablation.h"          // what the loss does without a head
#include "tapehead/interp/ablation_kinds.h"    // what several kinds of ablation say together
#include "tapehead/interp/attention_map.h"     // what a head looks at in one sequence
#include "tapehead/interp/attribution.h"       // whose part of a logit is whose
#include "tapehead/interp/circuits.h"          // what heads do by their weights
#include "tapehead/interp/context_score.h"     // how much the context helps, over a training
#include "tapehead/interp/head_scores.h"       // what a head looks at
#include "tapehead/interp/lens.h"              // what could be read out after a layer
#include "tapehead/interp/patching.h"          // what of a clean run restores a corrupted one
#include "tapehead/interp/period_scores.h"     // what a head looks at, at several periods
#include "tapehead/interp/subsets.h"           // who does the work, when heads stand in for one another
#include "tapehead/nn/edits.h"                 // changing a pass from outside
#include "tapehead/nn/one_head_attention.h"    // one head, as it is first written down
#include "tapehead/nn/operation_counter.h"     // what each site of a pass costs
#include "tapehead/nn/pass_cost.h"             // what a pass would cost, by its sizes
#include "tapehead/nn/recorder.h"              // reading a pass from outside
#include "tapehead/nn/recurrent.h"             // a plain recurrent layer
#include "tapehead/nn/transformer.h"           // the model
#include "tapehead/study/formation_report.h"   // when heads formed, in one run and over several
#include "tapehead/study/joint_sweep.h"        // the same, shared out over processes
#include "tapehead/study/scored_run.h"         // whole runs, with the scores of their heads
#include "tapehead/study/sweep.h"              // many runs, side by side
#include "tapehead/tasks/copied_segment.h"     // a segment and its copy in noise
#include "tapehead/tasks/floors.h"             // how well a task can be solved at all
#include "tapehead/tasks/identifier.h"         // text in which an identifier returns
#include "tapehead/tasks/repeated_sequence.h"  // the task of induction heads
#include "tapehead/tasks/text_windows.h"       // a text, window by window
#include "tapehead/text/merge_training.h"      // a vocabulary learnt from a text
#include "tapehead/text/tokenizer.h"           // between text and token ids
#include "tapehead/text/writer.h"              // a model that goes on with a text
#include "tapehead/train/benchmark.h"          // how fast a config trains
#include "tapehead/train/checkpoint.h"         // models on disk
#include "tapehead/train/estimate.h"           // what a step would cost on several machines
#include "tapehead/train/evaluate.h"           // losses and hits by kind of position
#include "tapehead/train/fork.h"               // runs that go on from others
#include "tapehead/train/intervention.h"       // what a config changes during training
#include "tapehead/train/joint_run.h"          // a run that several processes train
#include "tapehead/train/optimizer.h"          // SGD, Adam, AdamW
#include "tapehead/train/run.h"                // whole runs, with their files
