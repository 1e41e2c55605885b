// The losses over the steps, and what is drawn among them: what predictors lose, the bump and the hump.

import { key } from "./figure.js";
import { floorKeys, floorLevels } from "./floors.js";
import { fixed } from "./words.js";

const LOSSES = [
  { column: "loss_induction", name: "induction", colour: "var(--induction)" },
  { column: "loss_noise", name: "noise", colour: "var(--noise)" },
  { column: "loss", name: "all positions", colour: "var(--ink)" },
];

/** A column over the steps, of a table with a row a step or of one head's rows. */
export function pointsOf(table, column, rows = table.rows) {
  return rows.map((row) => [table.number(row, "step"), table.number(row, column)]);
}

/** The losses that the run has, each with its points. */
export function lossCurves(metrics) {
  return LOSSES.filter(({ column }) => metrics.numbers(column).some(Number.isFinite)).map((loss) => ({
    ...loss,
    points: pointsOf(metrics, loss.column),
  }));
}

/** Entries of the legend for the levels among the curves. */
export function levelKeys(run) {
  const hump = run.formation?.hump;
  const before = { name: "noise before its hump", colour: "var(--noise)", isThin: true };
  return [...floorKeys(run), ...(hump ? [key({ ...before, value: fixed(hump.level) }).root] : [])];
}

/** The panel of the steps `first` to `last`. */
export function lossPanel(run, metrics, [first, last], height) {
  const levels = floorLevels(run, LOSSES);
  const curves = lossCurves(metrics);
  const shown = curves.flatMap(({ points }) => points.filter(([step]) => step >= first).map(([, y]) => y));
  const highest = Math.max(0.1, ...[...shown, ...levels.map(({ y }) => y)].filter(Number.isFinite));
  const { bump, hump } = run.formation ?? {};
  const bend = ([step]) => step >= bump.start && step <= (bump.end ?? last);
  if (bump)
    curves.unshift({
      points: pointsOf(metrics, "loss").filter(bend),
      colour: "var(--bump)",
      width: 9,
      isSilent: true,
    });
  if (hump)
    curves.push({
      points: [Math.max(hump.start, first), hump.end ?? last].map((step) => [step, hump.level]),
      colour: "var(--noise)",
      width: 1,
      isSilent: true,
    });
  return { label: "loss (nats)", height, domain: [0, highest * 1.04], curves, levels };
}
