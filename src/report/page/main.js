// The page of one run. Each section has a module, which fills the section's content from the run; what they share
// is the moment of the training that is looked at.

import { element, fill } from "./dom.js";
import { readRun } from "./run.js";
import { Moment } from "./moment.js";
import { showVerdict } from "./verdict.js";
import { showTraining } from "./training.js";
import { showAttention } from "./attention.js";
import { showAblation } from "./ablation.js";
import { showCircuits } from "./circuits.js";
import { showTables } from "./tables.js";
import { soundness } from "./soundness.js";

const run = readRun(document.getElementById("data").textContent);
const moment = new Moment(run.attention ? run.attention.steps : [run.about.step]);

document.title = `${run.about.name} – Tapehead`;
fill(document.getElementById("title"), run.about.name);
fill(document.getElementById("in-words"), run.about.in_words);
const seeds = Object.entries(run.about.seeds)
  .map(([what, seed]) => `${what} ${seed}`)
  .join(", ");
fill(
  document.getElementById("made-by"),
  `Written by Tapehead ${run.madeBy.version} on ${run.madeBy.machine}. Seeds: ${seeds}. ` +
    "Drawn with D3 (Mike Bostock, BSD 3-Clause licence). This file asks no server for anything.",
);

// Each with the tables that it shows at one checkpoint, or that may be damaged.
const SECTIONS = [
  ["verdict", showVerdict, ["verdict"]],
  ["training", showTraining, ["metrics", "heads", "floors", "formation", "scores"]],
  ["attention", showAttention, []],
  ["ablation", showAblation, ["ablation", "subsets", "shapley", "interactions", "patching"]],
  ["circuits", showCircuits, ["circuits", "composition", "eigenvalues", "attribution", "lens"]],
  ["tables", showTables, []],
];

for (const [id, show, tables] of SECTIONS) {
  const content = document.querySelector(`#${id} .content`);
  content.append(...soundness(run, tables));
  // A damaged table spoils its own section and no other.
  try {
    show(content, run, moment);
  } catch (error) {
    content.append(
      element("p", { class: "missing failed" }, `The rest of this section cannot be drawn: ${error.message}`),
    );
  }
}
