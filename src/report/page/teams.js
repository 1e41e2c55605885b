// Heads as a team: what each is worth among those of its layer, and every subset of them taken out.

import { element } from "./dom.js";
import { drawBars } from "./bars.js";
import { figure } from "./figure.js";
import { headColour } from "./palette.js";
import { strongest } from "./strongest.js";
import { change, firstOf, fixed, grouped, list, percent } from "./words.js";

const MOST_HEADS = 16; // that are shown unasked
const MOST_PAIRS = 6; // that are named

/** Shapley values beside what each head costs alone. */
export function showTeams(content, run, shapley) {
  const subsets = run.table("subsets");
  const interactions = run.table("interactions");
  const made = figure(content, {
    title: "Heads as a team",
    caption: [
      "Coloured: a head's Shapley value, its fair share in what the layer's heads do together; grey: what it costs " +
        "alone. Where grey is shorter, others stand in for the head. Lines: 95 % intervals.",
      interactions ? pairsInWords(interactions) : "",
    ],
    draw(body, width) {
      drawBars(body, width, {
        axis: "nats on induction positions",
        groups: rowsShown().map((row) => ({
          name: `head ${row.layer}.${row.head}`,
          bars: [
            {
              value: shapley.number(row, "shapley"),
              low: shapley.number(row, "low"),
              high: shapley.number(row, "high"),
              colour: headColour(run, Number(row.layer), Number(row.head)),
              text: change(shapley.number(row, "shapley")),
            },
            {
              value: shapley.number(row, "alone"),
              low: shapley.number(row, "alone_low"),
              high: shapley.number(row, "alone_high"),
              colour: "var(--pale)",
              text: `alone ${change(shapley.number(row, "alone"))}`,
            },
          ],
        })),
        describe:
          "Bars: " +
          rowsShown()
            .map(
              (row) =>
                `head ${row.layer}.${row.head} Shapley value ` +
                `${fixed(shapley.number(row, "shapley"))}, alone ${fixed(shapley.number(row, "alone"))} nats`,
            )
            .join("; "),
      });
    },
  });
  const size = (row) =>
    Math.max(...["shapley", "alone"].map((column) => Math.abs(shapley.number(row, column))));
  const rowsShown = strongest(made, shapley.rows, MOST_HEADS, size);
  if (subsets) content.append(subsetTable(subsets));
}

/** The pairs whose interaction is the strongest. */
function pairsInWords(interactions) {
  const pairs = interactions.rows
    .map((row) => ({ row, value: interactions.number(row, "interaction") }))
    .filter(({ value }) => Number.isFinite(value) && value !== 0)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .map(
      ({ row, value }) =>
        `${row.layer}.${row.first} with ${row.layer}.${row.second} ${change(value, 2)} nats`,
    );
  if (pairs.length === 0) return "";
  return (
    ` Interactions of pairs, the strongest first: ${firstOf(pairs, MOST_PAIRS, "interactions")}. ` +
    "Plus: together the two cost more than one by one, as heads do that stand in for one another; minus: less, as " +
    "heads do that need one another."
  );
}

function subsetTable(subsets) {
  const rows = subsets.rows
    .filter((row) => row.heads !== "none")
    .map((row) =>
      element(
        "tr",
        {},
        element("td", {}, `layer ${row.layer}`),
        element("td", {}, `without ${list(row.heads.split("+"))}`),
        element("td", { class: "number" }, change(subsets.number(row, "change_induction"))),
        element("td", { class: "number" }, percent(subsets.number(row, "accuracy_induction"))),
        element(
          "td",
          {},
          [
            row.smallest_breaking === "1"
              ? "smallest set whose removal breaks it"
              : row.broken === "1"
                ? "breaks it"
                : "",
            row.smallest_keeping === "1"
              ? "smallest set whose rest keeps it"
              : row.kept === "1"
                ? "kept"
                : "",
          ]
            .filter(Boolean)
            .join(", "),
        ),
      ),
    );
  return element(
    "details",
    { class: "subsets" },
    element("summary", {}, `Every subset of each layer's heads: ${grouped(subsets.rows.length)} sets`),
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        {},
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ...["layer", "heads", "change (nats)", "accuracy left", ""].map((text) =>
              element("th", { scope: "col" }, text),
            ),
          ),
        ),
        element("tbody", {}, ...rows),
      ),
    ),
  );
}
