// Ablations with their intervals; teams of heads and patching follow.

import { element, fill, missing } from "./dom.js";
import { drawBars } from "./bars.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { missingPatching, showPatching } from "./patching.js";
import { strongest } from "./strongest.js";
import { showTeams } from "./teams.js";
import { change, percent } from "./words.js";

const KINDS = ["zero", "mean", "resample", "pattern-preserving", "value-preserving"];
const MARKS = { size: " ≠", sign: " ±", "": "" };
const MOST_COMPONENTS = 14; // that are shown unasked

const NOTHING_TO_SHARE = "Heads as a team: the sequences have no induction positions, so no loss to share.";

const QUANTITIES = [
  {
    value: "induction",
    label: "loss on induction",
    mean: "change_induction",
    low: "low",
    high: "high",
    axis: "change in loss on induction positions (nats)",
    text: (x) => change(x),
  },
  {
    value: "noise",
    label: "loss on noise",
    mean: "change_noise",
    low: "noise_low",
    high: "noise_high",
    axis: "change in loss on noise positions (nats)",
    text: (x) => change(x),
  },
  {
    value: "accuracy",
    label: "accuracy left",
    mean: "accuracy_induction",
    low: "accuracy_induction_low",
    high: "accuracy_induction_high",
    axis: "accuracy on induction positions that is left",
    text: (x) => percent(x),
  },
];

export function showAblation(content, run) {
  if (run.about.layers === 0) {
    content.append(
      element("p", { class: "missing" }, "This model has no heads: nothing to ablate, nowhere to patch."),
    );
    return;
  }
  const ablation = run.table("ablation");
  if (ablation && run.ablation) showKinds(content, run, ablation);
  else missing(content, "What every head is for", run.command("ablation"));
  const shapley = run.table("shapley");
  const isShared = shapley?.numbers("shapley").some(Number.isFinite);
  if (isShared) showTeams(content, run, shapley);
  else if (shapley) content.append(element("p", { class: "missing" }, NOTHING_TO_SHARE));
  else if (run.command("shapley")) missing(content, "What heads are for together", run.command("shapley"));
  else content.append(element("p", { class: "missing" }, tooMany(run.about.heads)));
  const patching = run.table("patching");
  if (patching) showPatching(content, run, patching);
  else missingPatching(content, run);
}

const tooMany = (heads) =>
  `What heads are for together: a layer of ${heads} heads has too many subsets to measure every one.`;

function component({ layer, head }) {
  if (head === "all") return `layer ${layer} heads`;
  return head === "feed_forward" ? `layer ${layer} MLP` : `head ${layer}.${head}`;
}

const kindColour = (kind) => `var(--kind-${KINDS.indexOf(kind)})`;

function showKinds(content, run, table) {
  // Sequences may have no position of a kind.
  const quantities = QUANTITIES.filter(({ mean }) => table.numbers(mean).some(Number.isFinite));
  let quantity = quantities[0];
  const kinds = [...new Set(table.rows.map((row) => row.kind))];
  const groups = new Map();
  table.rows.forEach((row, i) => {
    const name = component(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ row, i });
  });
  const size = (name) =>
    Math.max(
      ...groups
        .get(name)
        .map(({ row }) => Math.abs(table.number(row, "change_induction")))
        .filter(Number.isFinite),
      0,
    );
  const replacement = new Map(run.ablation.kinds.map((kind) => [kind.name, kind.replacement]));
  const made = figure(content, {
    title: "Taken out one by one",
    caption: [
      "Bars: means over ",
      table.rows[0].sequences,
      " sequences; lines: 95 % intervals. ≠: the interval does not meet that of a kind above (of zero, mean and " +
        "resample): how much is lost depends on what stands in. ±: the sign is not that of a kind above: whether " +
        "this component helps is not settled by ablation. In place of an output stands, by kind: " +
        kinds.map((kind) => `${kind}, ${replacement.get(kind)}`).join("; ") +
        ".",
    ],
    draw(body, width) {
      const shown = namesShown();
      drawBars(body, width, {
        axis: quantity.axis,
        groups: shown.map((name) => ({
          name,
          bars: groups.get(name).map(({ row, i }) => ({
            value: table.number(row, quantity.mean),
            low: table.number(row, quantity.low),
            high: table.number(row, quantity.high),
            colour: kindColour(row.kind),
            text:
              quantity.text(table.number(row, quantity.mean)) +
              MARKS[run.ablation.marks[quantity.mean]?.[i] ?? ""],
          })),
        })),
        describe:
          `Bars: ${quantity.axis}, for ${shown.join(", ")}, by kinds of ablation ${kinds.join(", ")}. ` +
          "Numbers are in the table ablation.",
      });
    },
  });
  if (quantities.length > 1)
    choice(made.controls, {
      label: "Show",
      value: quantity.value,
      options: quantities.map(({ value, label }) => [value, label]),
      onchange: (value) => {
        quantity = quantities.find((one) => one.value === value);
        made.redraw();
      },
    });
  const namesShown = strongest(made, [...groups.keys()], MOST_COMPONENTS, size);
  fill(made.legend, ...kinds.map((kind) => key({ name: kind, colour: kindColour(kind), square: true }).root));
  if (kinds.length === 1)
    missing(content, "The other kinds of ablation", `tapehead ablate ${run.about.path} --kind all`);
}
