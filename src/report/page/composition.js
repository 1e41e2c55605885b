// How heads compose: a matrix of heads by earlier heads.

import { element, fill } from "./dom.js";
import { choice } from "./choice.js";
import { figure } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { signedRamp } from "./palette.js";
import { change, counted, fixed, percent, signed } from "./words.js";

const MANY = 12; // heads, that get narrower rows
const WAYS = { Q: "queries", K: "keys", V: "values" };

/** Coloured by how far each score is from that of random matrices. */
export function showComposition(content, run, table) {
  let how = "K";
  const unique = (layer, head) => [
    ...new Map(table.rows.map((row) => [`${row[layer]}.${row[head]}`, row])).keys(),
  ];
  const [rows, columns] = [unique("layer", "head"), unique("earlier_layer", "earlier_head")];
  if (rows.length === 0) return;
  const baseline = table.number(table.rows[0], "baseline");
  const spread = table.number(table.rows[0], "baseline_spread");
  const cells = new Map(
    table.rows.map((row) => [
      `${row.layer}.${row.head}|${row.earlier_layer}.${row.earlier_head}|${row.composition}`,
      row,
    ]),
  );
  const cell = (row, column) => cells.get(`${rows[row]}|${columns[column]}|${how}`);
  const extent = Math.max(
    4 * spread,
    ...table
      .numbers("score")
      .filter(Number.isFinite)
      .map((score) => Math.abs(score - baseline)),
  );
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const read = (row, column) => {
    const there = cell(row, column);
    const score = table.number(there, "score");
    const extra = there.top1
      ? `; in tokens, diagonal less the rest ${change(table.number(there, "diagonal_difference"), 2)}, and the ` +
        `diagonal is the highest of its row for ${percent(table.number(there, "top1"))} of them`
      : "";
    fill(
      readout,
      element("strong", {}, `head ${rows[row]} reads head ${columns[column]} through its ${WAYS[how]}`),
      ` ${fixed(score)}, ` + `${signed((score - baseline) / spread, 1)} deviations from random${extra}`,
    );
  };
  const readBest = () => {
    const [best] = rows
      .flatMap((_, row) => columns.map((__, column) => [row, column]))
      .filter((at) => cell(...at))
      .sort((a, b) => table.number(cell(...b), "score") - table.number(cell(...a), "score"));
    if (best) read(...best);
  };
  const made = figure(content, {
    title: "Composition of heads",
    caption: [
      `Scores ‖W_A W_B‖ / (‖W_A‖ ‖W_B‖). Random matrices of these shapes score ${fixed(baseline)} ± ${fixed(spread)}: ` +
        "without colour. Blue: the later head reads more of what the earlier one writes, orange: less.",
    ],
    draw(body, width) {
      const colours = signedRamp();
      body.replaceChildren();
      new HeatMap(body, {
        rows,
        columns,
        rowName: "later head",
        columnName: "earlier head",
        value: (row, column) => (cell(row, column) ? table.number(cell(row, column), "score") : null),
        colour: (score) => colours.css((score - baseline) / extent),
        number: (score) => fixed(score),
        ink: (score) => colours.ink((score - baseline) / extent),
        onpoint: read,
        describe: () =>
          `Composition scores (${how}) of ${counted(rows.length, "head")} with ${counted(columns.length, "earlier one")}: ${readout.textContent}. ` +
          "Numbers are in the table composition.",
      }).draw(width, rows.length > MANY ? { most: 76, highest: 20 } : { most: 76, rowHeight: 36 });
    },
  });
  made.legend.replaceWith(readout);
  choice(made.controls, {
    label: "Through",
    value: how,
    options: Object.entries(WAYS),
    onchange: (value) => {
      how = value;
      readBest();
      made.redraw();
    },
  });
  readBest();
}
