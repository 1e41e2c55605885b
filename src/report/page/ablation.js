// Ablations with their intervals; teams of heads and patching follow.

import { element, fill, missing } from "./dom.js";
import { drawBars } from "./bars.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { showPatching } from "./patching.js";
import { showTeams } from "./teams.js";
import { percent, signed } from "./words.js";

const KINDS = ["zero", "mean", "resample", "pattern-preserving", "value-preserving"];
const MARKS = { size: " ≠", sign: " ±", "": "" };
const MOST_COMPONENTS = 14; // that are shown unasked

const QUANTITIES = [
  {
    value: "induction",
    label: "loss on induction",
    mean: "change_induction",
    low: "low",
    high: "high",
    axis: "change in loss on induction positions (nats)",
    text: (x) => signed(x),
  },
  {
    value: "noise",
    label: "loss on noise",
    mean: "change_noise",
    low: "noise_low",
    high: "noise_high",
    axis: "change in loss on noise positions (nats)",
    text: (x) => signed(x),
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
  if (shapley) showTeams(content, run, shapley);
  else if (run.command("shapley")) missing(content, "What heads are for together", run.command("shapley"));
  const patching = run.table("patching");
  if (patching) showPatching(content, run, patching);
  else missing(content, "What of a clean run restores a corrupted one", run.command("patching"));
}

function component({ layer, head }) {
  if (head === "all") return `layer ${layer} heads`;
  return head === "feed_forward" ? `layer ${layer} MLP` : `head ${layer}.${head}`;
}

const kindColour = (kind) => `var(--kind-${KINDS.indexOf(kind)})`;

function showKinds(content, run, table) {
  let quantity = QUANTITIES[0];
  let showsAll = false;
  const kinds = [...new Set(table.rows.map((row) => row.kind))];
  const groups = new Map();
  table.rows.forEach((row, i) => {
    const name = component(row);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push({ row, i });
  });
  const size = (rows) =>
    Math.max(
      ...rows.map(({ row }) => Math.abs(table.number(row, "change_induction"))).filter(Number.isFinite),
      0,
    );
  const largest = [...groups]
    .sort((a, b) => size(b[1]) - size(a[1]))
    .slice(0, MOST_COMPONENTS)
    .map(([name]) => name);
  const replacement = new Map(run.ablation.kinds.map((kind) => [kind.name, kind.replacement]));
  const made = figure(content, {
    title: "Taken out one by one",
    caption: [
      "Bars: means over ",
      table.rows[0].sequences,
      " sequences; lines: 95 % intervals. ≠ and ±: of zero, mean " +
        "and resample, the interval does not meet, or the sign is not, that of one above it, so the answer depends " +
        "on the stand-in. In place of an output stands, by kind: " +
        kinds.map((kind) => `${kind}, ${replacement.get(kind)}`).join("; ") +
        ".",
    ],
    draw(body, width) {
      const shown = showsAll
        ? [...groups.keys()]
        : [...groups.keys()].filter((name) => largest.includes(name));
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
  choice(made.controls, {
    label: "Show",
    value: quantity.value,
    options: QUANTITIES.map(({ value, label }) => [value, label]),
    onchange: (value) => {
      quantity = QUANTITIES.find((one) => one.value === value);
      made.redraw();
    },
  });
  if (groups.size > MOST_COMPONENTS) {
    const more = element(
      "button",
      {
        type: "button",
        onclick: () => {
          showsAll = true;
          more.remove();
          made.redraw();
        },
      },
      `Show all ${groups.size} components`,
    );
    made.controls.append(more);
  }
  fill(made.legend, ...kinds.map((kind) => key({ name: kind, colour: kindColour(kind), square: true }).root));
  if (kinds.length === 1)
    missing(content, "The other kinds of ablation", `tapehead ablate ${run.about.path} --kind all`);
}
