// Ablations with their intervals, teams of heads, and patching grids.

import { element, fill, missing } from "./dom.js";
import { drawBars } from "./bars.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { headColour, signedRamp } from "./palette.js";
import { fixed, grouped, list, percent, signed, words } from "./words.js";

const KINDS = ["zero", "mean", "resample", "pattern-preserving", "value-preserving"];
const MARKS = { size: " ≠", sign: " ±", "": "" };
const MOST_COMPONENTS = 14; // that are shown unasked

const QUANTITIES = [
  { value: "induction", label: "loss on induction", mean: "change_induction", low: "low", high: "high",
    axis: "change in loss on induction positions (nats)", text: (x) => signed(x) },
  { value: "noise", label: "loss on noise", mean: "change_noise", low: "noise_low", high: "noise_high",
    axis: "change in loss on noise positions (nats)", text: (x) => signed(x) },
  { value: "accuracy", label: "accuracy left", mean: "accuracy_induction", low: "accuracy_induction_low",
    high: "accuracy_induction_high", axis: "accuracy on induction positions that is left", text: (x) => percent(x) },
];

export function showAblation(content, run) {
  const ablation = run.table("ablation");
  if (ablation) showKinds(content, run, ablation);
  else if (run.about.layers > 0) missing(content, "What every head is for", run.command("ablation"));
  const shapley = run.table("shapley");
  if (shapley) showTeams(content, run, shapley);
  else if (run.command("shapley")) missing(content, "What heads are for together", run.command("shapley"));
  const patching = run.table("patching");
  if (patching) showPatching(content, run, patching);
  else if (run.about.layers > 0) missing(content, "What of a clean run restores a corrupted one", run.command("patching"));
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
  const size = (rows) => Math.max(...rows.map(({ row }) => Math.abs(table.number(row, "change_induction"))).filter(Number.isFinite), 0);
  const largest = [...groups].sort((a, b) => size(b[1]) - size(a[1])).slice(0, MOST_COMPONENTS).map(([name]) => name);
  const replacement = new Map(run.ablation.kinds.map((kind) => [kind.name, kind.replacement]));
  const made = figure(content, {
    title: "Taken out one by one",
    caption: ["Bars: means over ", table.rows[0].sequences, " sequences; lines: 95 % intervals. ≠ and ±: of zero, mean " +
              "and resample, the interval does not meet, or the sign is not, that of one above it, so the answer depends " +
              "on the stand-in. In place of an output stands, by kind: " +
              kinds.map((kind) => `${kind}, ${replacement.get(kind)}`).join("; ") + "."],
    draw(body, width) {
      const shown = showsAll ? [...groups.keys()] : [...groups.keys()].filter((name) => largest.includes(name));
      drawBars(body, width, {
        axis: quantity.axis,
        groups: shown.map((name) => ({ name, bars: groups.get(name).map(({ row, i }) => ({
          value: table.number(row, quantity.mean), low: table.number(row, quantity.low), high: table.number(row, quantity.high),
          colour: kindColour(row.kind),
          text: quantity.text(table.number(row, quantity.mean)) + MARKS[run.ablation.marks[quantity.mean]?.[i] ?? ""] })) })),
        describe: `Bars: ${quantity.axis}, for ${shown.join(", ")}, by kinds of ablation ${kinds.join(", ")}. ` +
                  "Numbers are in the table ablation.",
      });
    },
  });
  choice(made.controls, { label: "Show", value: quantity.value, options: QUANTITIES.map(({ value, label }) => [value, label]),
    onchange: (value) => {
      quantity = QUANTITIES.find((one) => one.value === value);
      made.redraw();
    } });
  if (groups.size > MOST_COMPONENTS) {
    const more = element("button", { type: "button", onclick: () => {
      showsAll = true;
      more.remove();
      made.redraw();
    } }, `Show all ${groups.size} components`);
    made.controls.append(more);
  }
  fill(made.legend, ...kinds.map((kind) => key({ name: kind, colour: kindColour(kind), square: true }).root));
  if (kinds.length === 1) missing(content, "The other kinds of ablation", `tapehead ablate ${run.about.path} --kind all`);
}

/** Shapley values beside what each head costs alone, and every subset of each layer's heads. */
function showTeams(content, run, shapley) {
  const subsets = run.table("subsets");
  const interactions = run.table("interactions");
  figure(content, {
    title: "Heads as a team",
    caption: ["Coloured: a head's Shapley value, its fair share in what the layer's heads do together; grey: what it costs " +
              "alone. Where grey is shorter, others stand in for the head. Lines: 95 % intervals.",
              ...(interactions ? [" Interactions of pairs: " + interactions.rows.map((row) =>
                `${row.layer}.${row.first} with ${row.layer}.${row.second} ${signed(interactions.number(row, "interaction"), 2)} nats`)
                .slice(0, 12).join(", ") + (interactions.rows.length > 12 ? ", and more in the table." : ".")] : [])],
    draw(body, width) {
      drawBars(body, width, {
        axis: "nats on induction positions",
        groups: shapley.rows.map((row) => ({ name: `head ${row.layer}.${row.head}`, bars: [
          { value: shapley.number(row, "shapley"), low: shapley.number(row, "low"), high: shapley.number(row, "high"),
            colour: headColour(run, Number(row.layer), Number(row.head)), text: signed(shapley.number(row, "shapley")) },
          { value: shapley.number(row, "alone"), low: shapley.number(row, "alone_low"), high: shapley.number(row, "alone_high"),
            colour: "var(--pale)", text: `alone ${signed(shapley.number(row, "alone"))}` }] })),
        describe: "Bars: " + shapley.rows.map((row) => `head ${row.layer}.${row.head} Shapley value ` +
          `${fixed(shapley.number(row, "shapley"))}, alone ${fixed(shapley.number(row, "alone"))} nats`).join("; "),
      });
    },
  });
  if (subsets) content.append(subsetTable(subsets));
}

function subsetTable(subsets) {
  const rows = subsets.rows.filter((row) => row.heads !== "none").map((row) => element("tr", {},
    element("td", {}, `layer ${row.layer}`), element("td", {}, `without ${list(row.heads.split("+"))}`),
    element("td", { class: "number" }, signed(subsets.number(row, "change_induction"))),
    element("td", { class: "number" }, percent(subsets.number(row, "accuracy_induction"))),
    element("td", {}, [row.smallest_breaking === "1" ? "smallest set whose removal breaks it" : row.broken === "1" ? "breaks it" : "",
                       row.smallest_keeping === "1" ? "smallest set whose rest keeps it" : row.kept === "1" ? "kept" : ""]
      .filter(Boolean).join(", "))));
  return element("details", { class: "subsets" },
    element("summary", {}, `Every subset of each layer's heads: ${grouped(subsets.rows.length)} sets`),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {},
      ...["layer", "heads", "change (nats)", "accuracy left", ""].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rows))));
}

/** The grids of the table: what was patched, and each with its rows, columns and cells. */
function gridsOf(table) {
  const grids = new Map();
  for (const row of table.rows) {
    const by = { head: "head by head", "head-position": "by head and position" }[row.by] ?? `by ${row.by}`;
    const name = `${words(row.site)}, ${by}${row.to ? `, sent to ${row.to} alone` : ""}`;
    if (!grids.has(name)) grids.set(name, { name, byPosition: row.by.includes("position"), rows: [], columns: [], cells: new Map(), flags: new Map() });
    const grid = grids.get(name);
    const line = row.layer === "final" ? "final" : row.by === "head-position" ? `head ${row.layer}.${row.head}` : `layer ${row.layer}`;
    const column = grid.byPosition ? row.position : row.by === "head" ? `head ${row.head}` : "all";
    if (!grid.rows.includes(line)) grid.rows.push(line);
    if (!grid.columns.includes(column)) grid.columns.push(column);
    grid.cells.set(`${line}|${column}`, row);
    if (grid.byPosition && row.role) grid.flags.set(column, row.role[0].toUpperCase());
  }
  return [...grids.values()];
}

function showPatching(content, run, table) {
  const first = table.rows[0];
  const [clean, corrupted] = [table.number(first, "clean"), table.number(first, "corrupted")];
  const extent = Math.max(1, ...table.numbers("effect").filter(Number.isFinite).map(Math.abs));
  content.append(element("h3", {}, "What of a clean run restores a corrupted one"),
    element("p", { class: "small" }, "In corrupted sequences the earlier copies of the query's token are other tokens. " +
      "Effect: the share of what the right token's log-probability loses thereby " +
      `(${fixed(clean, 2)} to ${fixed(corrupted, 2)} nats) that comes back when one place gets its clean value. ` +
      "C: the copy of the query's token; A: the position after it; Q: the query."));
  const grid = element("div", { class: "grids" });
  content.append(grid);
  for (const one of gridsOf(table)) showGrid(grid, run, table, one, extent);
}

function showGrid(content, run, table, { name, byPosition, rows, columns, cells, flags }, extent) {
  const cell = (row, column) => cells.get(`${rows[row]}|${columns[column]}`);
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const read = (row, column) => {
    const there = cell(row, column);
    fill(readout, element("strong", {}, `${rows[row]}, ${byPosition ? "position " : ""}${columns[column]}`),
         ` ${signed(table.number(there, "effect"))} [${fixed(table.number(there, "low"))}, ${fixed(table.number(there, "high"))}]`);
  };
  let map = null;
  const made = figure(content, { title: name, caption: [], draw(body, width) {
    const colours = signedRamp();
    const spec = { rows, columns, rowName: "", columnName: byPosition ? "position" : "", flags: [...flags].map(([column, flag]) => [columns.indexOf(column), flag]),
      value: (row, column) => (cell(row, column) ? table.number(cell(row, column), "effect") : null),
      colour: (effect) => colours(effect / extent), number: (effect) => signed(effect, 2),
      isDark: (effect) => Math.abs(effect) > 0.6 * extent, onpoint: read,
      describe: () => describeGrid(name, rows, columns, cell, table) };
    body.replaceChildren();
    map = new HeatMap(body, spec);
    map.draw(width, { most: byPosition ? 22 : 90, rowHeight: 24 });
  } });
  made.legend.replaceWith(readout);
  const [best] = rows.flatMap((_, row) => columns.map((__, column) => [row, column])).filter(([row, column]) => cell(row, column))
    .sort((a, b) => table.number(cell(...b), "effect") - table.number(cell(...a), "effect"));
  if (best) read(...best);
}

function describeGrid(name, rows, columns, cell, table) {
  const found = rows.flatMap((row, r) => columns.map((column, c) => ({ row, column, there: cell(r, c) })))
    .filter(({ there }) => there).map((one) => ({ ...one, effect: table.number(one.there, "effect") }))
    .sort((a, b) => b.effect - a.effect).slice(0, 3);
  return `Patching ${name}: largest effects ` +
         found.map(({ row, column, effect }) => `${row} ${column} ${fixed(effect, 2)}`).join(", ") + ". Numbers are in the table patching.";
}
