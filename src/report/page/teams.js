// Heads as a team: what each is worth among those of its layer, and every subset of them taken out.

import { element } from "./dom.js";
import { drawBars } from "./bars.js";
import { figure } from "./figure.js";
import { headColour } from "./palette.js";
import { fixed, grouped, list, percent, signed } from "./words.js";

/** Shapley values beside what each head costs alone. */
export function showTeams(content, run, shapley) {
  const subsets = run.table("subsets");
  const interactions = run.table("interactions");
  figure(content, {
    title: "Heads as a team",
    caption: [
      "Coloured: a head's Shapley value, its fair share in what the layer's heads do together; grey: what it costs " +
        "alone. Where grey is shorter, others stand in for the head. Lines: 95 % intervals.",
      ...(interactions
        ? [
            " Interactions of pairs: " +
              interactions.rows
                .map(
                  (row) =>
                    `${row.layer}.${row.first} with ${row.layer}.${row.second} ${signed(interactions.number(row, "interaction"), 2)} nats`,
                )
                .slice(0, 12)
                .join(", ") +
              (interactions.rows.length > 12 ? ", and more in the table." : "."),
          ]
        : []),
    ],
    draw(body, width) {
      drawBars(body, width, {
        axis: "nats on induction positions",
        groups: shapley.rows.map((row) => ({
          name: `head ${row.layer}.${row.head}`,
          bars: [
            {
              value: shapley.number(row, "shapley"),
              low: shapley.number(row, "low"),
              high: shapley.number(row, "high"),
              colour: headColour(run, Number(row.layer), Number(row.head)),
              text: signed(shapley.number(row, "shapley")),
            },
            {
              value: shapley.number(row, "alone"),
              low: shapley.number(row, "alone_low"),
              high: shapley.number(row, "alone_high"),
              colour: "var(--pale)",
              text: `alone ${signed(shapley.number(row, "alone"))}`,
            },
          ],
        })),
        describe:
          "Bars: " +
          shapley.rows
            .map(
              (row) =>
                `head ${row.layer}.${row.head} Shapley value ` +
                `${fixed(shapley.number(row, "shapley"))}, alone ${fixed(shapley.number(row, "alone"))} nats`,
            )
            .join("; "),
      });
    },
  });
  if (subsets) content.append(subsetTable(subsets));
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
        element("td", { class: "number" }, signed(subsets.number(row, "change_induction"))),
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
