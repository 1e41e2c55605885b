// Patching: grids of what of a clean run restores a corrupted one.

import { colourScale } from "./colour_scale.js";
import { element, fill, missing } from "./dom.js";
import { figure } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { signedRamp } from "./palette.js";
import { fixed, percent, signed, words } from "./words.js";

const TITLE = "What of a clean run restores a corrupted one";

/** The grids of the table: what was patched, and each with its rows, columns and cells. */
function gridsOf(table) {
  const grids = new Map();
  for (const row of table.rows) {
    const by = { head: "head by head", "head-position": "by head and position" }[row.by] ?? `by ${row.by}`;
    const name = `${words(row.site)}, ${by}${row.to ? `, sent to ${row.to} alone` : ""}`;
    if (!grids.has(name))
      grids.set(name, {
        name,
        byPosition: row.by.includes("position"),
        rows: [],
        columns: [],
        cells: new Map(),
        flags: new Map(),
      });
    const grid = grids.get(name);
    const line =
      row.layer === "final"
        ? "final"
        : row.by === "head-position"
          ? `head ${row.layer}.${row.head}`
          : `layer ${row.layer}`;
    const column = grid.byPosition ? row.position : row.by === "head" ? `head ${row.head}` : "all";
    if (!grid.rows.includes(line)) grid.rows.push(line);
    if (!grid.columns.includes(column)) grid.columns.push(column);
    grid.cells.set(`${line}|${column}`, row);
    if (grid.byPosition && row.role) grid.flags.set(column, row.role[0].toUpperCase());
  }
  return [...grids.values()];
}

/** Without copying there is nothing to restore, and the command says so. */
export function missingPatching(content, run) {
  const metrics = run.table("metrics");
  const accuracy = metrics?.numbers("accuracy_induction").at(-1);
  const known = Number.isFinite(accuracy)
    ? `; its accuracy on induction positions is ${percent(accuracy)}`
    : "";
  const condition = `There is something to restore only if the model copies${known}.`;
  missing(content, TITLE, run.command("patching"), condition);
}

export function showPatching(content, run, table) {
  const first = table.rows[0];
  const [clean, corrupted] = [table.number(first, "clean"), table.number(first, "corrupted")];
  const extent = Math.max(1, ...table.numbers("effect").filter(Number.isFinite).map(Math.abs));
  content.append(
    element("h3", {}, TITLE),
    element(
      "p",
      { class: "small" },
      "In corrupted sequences the earlier copies of the query's token are other tokens. " +
        "Effect: the share of what the right token's log-probability loses thereby " +
        `(${fixed(clean, 2)} to ${fixed(corrupted, 2)} nats) that comes back when one place gets its clean value. ` +
        "C: the copy of the query's token; A: the position after it; Q: the query.",
    ),
  );
  content.append(colourScale("signed", "effect", signed(-extent, 2), signed(extent, 2)));
  const grid = element("div", { class: "grids" });
  content.append(grid);
  for (const one of gridsOf(table)) showGrid(grid, run, table, one, extent);
}

function showGrid(content, run, table, { name, byPosition, rows, columns, cells, flags }, extent) {
  const cell = (row, column) => cells.get(`${rows[row]}|${columns[column]}`);
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const read = (row, column) => {
    const there = cell(row, column);
    fill(
      readout,
      element("strong", {}, `${rows[row]}, ${byPosition ? "position " : ""}${columns[column]}`),
      ` ${signed(table.number(there, "effect"))} [${fixed(table.number(there, "low"))}, ${fixed(table.number(there, "high"))}]`,
    );
  };
  let map = null;
  const made = figure(content, {
    title: name,
    caption: [],
    draw(body, width) {
      const colours = signedRamp();
      const spec = {
        rows,
        columns,
        rowName: "",
        columnName: byPosition ? "position" : "",
        flags: [...flags].map(([column, flag]) => [columns.indexOf(column), flag]),
        value: (row, column) => (cell(row, column) ? table.number(cell(row, column), "effect") : null),
        colour: (effect) => colours.css(effect / extent),
        number: (effect) => signed(effect, 2),
        ink: (effect) => colours.ink(effect / extent),
        onpoint: read,
        describe: () => describeGrid(name, rows, columns, cell, table),
      };
      body.replaceChildren();
      map = new HeatMap(body, spec);
      map.draw(width, { most: byPosition ? 22 : 90, rowHeight: 24 });
    },
  });
  made.legend.replaceWith(readout);
  const [best] = rows
    .flatMap((_, row) => columns.map((__, column) => [row, column]))
    .filter(([row, column]) => cell(row, column))
    .sort((a, b) => table.number(cell(...b), "effect") - table.number(cell(...a), "effect"));
  if (best) read(...best);
}

function describeGrid(name, rows, columns, cell, table) {
  const found = rows
    .flatMap((row, r) => columns.map((column, c) => ({ row, column, there: cell(r, c) })))
    .filter(({ there }) => there)
    .map((one) => ({ ...one, effect: table.number(one.there, "effect") }))
    .sort((a, b) => b.effect - a.effect)
    .slice(0, 3);
  return (
    `Patching ${name}: largest effects ` +
    found.map(({ row, column, effect }) => `${row} ${column} ${fixed(effect, 2)}`).join(", ") +
    ". Numbers are in the table patching."
  );
}
