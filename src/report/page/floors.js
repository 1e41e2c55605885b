// What the best predictors of a kind lose: lines that no model of that kind gets below.

import { key } from "./figure.js";
import { fixed } from "./words.js";

const DASHES = ["10 5", "1.5 3.5", "4 2.5", "10 3 1.5 3"];
const CHANCE = "chance";
/** Of every level that guessing, or an even head, comes to. */
export const CHANCE_DASH = DASHES[0];

const dash = (i) => DASHES[i % DASHES.length];

function nameOf(predictor) {
  if (predictor === CHANCE) return "guessing";
  return predictor === "Bayes" ? "knows the task (Bayes)" : `matches the ${predictor}`;
}

/** An entry of the legend a predictor, with its losses on induction / noise. */
export function floorKeys(run) {
  const floors = run.table("floors");
  return (floors?.rows ?? []).map((row, i) => {
    const value =
      row.predictor === CHANCE
        ? fixed(floors.number(row, "loss"), 2)
        : `${fixed(floors.number(row, "loss_induction"))} / ${fixed(floors.number(row, "loss_noise"), 2)}`;
    return key({ name: nameOf(row.predictor), colour: "var(--grey)", dash: dash(i), value }).root;
  });
}

/** Levels for a panel: one for guessing, for the others one in the colour of each of the losses. */
export function floorLevels(run, losses) {
  const floors = run.table("floors");
  return (floors?.rows ?? []).flatMap((row, i) => {
    const level = (column, colour) => ({ y: floors.number(row, column), colour, dash: dash(i) });
    if (row.predictor === CHANCE) return [level("loss", "var(--grey)")];
    return losses.map(({ column, colour }) => level(column, colour)).filter(({ y }) => Number.isFinite(y));
  });
}

/** What the levels are, a sentence each. */
export function floorsInWords(run) {
  const predictors = (run.table("floors")?.rows ?? []).map((row) => row.predictor);
  const sentences = [];
  if (predictors.includes(CHANCE)) sentences.push("Dashed in grey: the loss of guessing.");
  if (predictors.some((predictor) => predictor !== CHANCE))
    sentences.push(
      "Other broken lines, in the colours of the curves: what the best predictors of a kind lose; in the legend " +
        "on induction / noise.",
    );
  return sentences;
}
