// What the best predictors of a kind lose: lines that no model of that kind gets below.

import { key } from "./figure.js";
import { fixed } from "./words.js";

const DASHES = ["6 4", "2 3", "1 4", "8 3 2 3"];
const CHANCE = "chance";

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
