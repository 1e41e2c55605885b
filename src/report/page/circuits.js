// Circuits from the weights, and what adds to a logit.

import { element, missing } from "./dom.js";
import { showComposition } from "./composition.js";
import { showEigenvalues } from "./eigenvalues.js";
import { showAttribution, showLens } from "./logits.js";
import { showMaps } from "./weight_maps.js";

export function showCircuits(content, run) {
  if (run.about.layers === 0) {
    content.append(element("p", { class: "missing" }, "This model has no layers, so no circuits."));
    return;
  }
  const composition = run.table("composition");
  const circuits = run.table("circuits");
  if (!circuits) missing(content, "Circuits", run.command("circuits"));
  if (composition) showComposition(content, run, composition);
  if (run.circuits) showMaps(content, run);
  const eigenvalues = run.table("eigenvalues");
  if (eigenvalues) showEigenvalues(content, run, eigenvalues, circuits);
  const attribution = run.table("attribution");
  if (attribution) showAttribution(content, run, attribution);
  const lens = run.table("lens");
  if (lens) showLens(content, lens);
  else missing(content, "What could be read out after every layer", run.command("lens"));
}
