// Circuits from the weights: composition, OV and QK as maps, eigenvalues; and what adds to a logit.

import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { element, fill, missing } from "./dom.js";
import { drawBars } from "./bars.js";
import { choice } from "./choice.js";
import { figure, key } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { headColour, shareRamp, signedRamp } from "./palette.js";
import { drawPanels } from "./panels.js";
import { unpack } from "./run.js";
import { fixed, short, signed, words } from "./words.js";

const MAPS = {
  ov: { label: "OV", rows: "token attended to", columns: "token whose logit changes",
        text: "Full OV, W_E W_V W_O W_U: what a token that is looked at does to every logit. A copying head has its diagonal in blue." },
  qk_tokens: { label: "QK, tokens", rows: "query", columns: "key",
               text: "W_E W_Q W_Kᵀ W_Eᵀ/√D: which tokens look at which, straight from the embedding." },
  qk_positions: { label: "QK, positions", rows: "query position", columns: "key position",
                  text: "The causal softmax of W_pos W_Q W_Kᵀ W_posᵀ/√D: where the head would look by position alone." },
  k_composition: { label: "K-composition", rows: "query", columns: "token copied by the earlier head",
                   text: "(W_E W_Q)(W_E W_V W_O W_K)ᵀ/√D: which query looks for what the earlier head has copied to a key. " +
                         "An induction head has its diagonal in blue." },
};

export function showCircuits(content, run) {
  if (run.about.layers === 0) {
    content.append(element("p", { class: "missing" }, "This model has no layers, so no circuits."));
    return;
  }
  const composition = run.table("composition");
  const circuits = run.table("circuits");
  if (!circuits) missing(content, "Circuits", run.command("circuits"));
  if (composition) showComposition(content, run, composition);
  if (run.circuits) showMaps(content, run);
  const eigenvalues = run.table("eigenvalues");
  if (eigenvalues) showEigenvalues(content, run, eigenvalues, circuits);
  const attribution = run.table("attribution");
  if (attribution) showAttribution(content, run, attribution);
  const lens = run.table("lens");
  if (lens) showLens(content, lens);
  else missing(content, "What could be read out after every layer", run.command("lens"));
}

/** A matrix of heads by earlier heads, coloured by how far each score is from that of random matrices. */
function showComposition(content, run, table) {
  let how = "K";
  const unique = (layer, head) => [...new Map(table.rows.map((row) => [`${row[layer]}.${row[head]}`, row])).keys()];
  const [rows, columns] = [unique("layer", "head"), unique("earlier_layer", "earlier_head")];
  if (rows.length === 0) return;
  const baseline = table.number(table.rows[0], "baseline");
  const spread = table.number(table.rows[0], "baseline_spread");
  const cells = new Map(table.rows.map((row) => [`${row.layer}.${row.head}|${row.earlier_layer}.${row.earlier_head}|${row.composition}`, row]));
  const cell = (row, column) => cells.get(`${rows[row]}|${columns[column]}|${how}`);
  const extent = Math.max(4 * spread, ...table.numbers("score").filter(Number.isFinite).map((score) => Math.abs(score - baseline)));
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const read = (row, column) => {
    const there = cell(row, column);
    const score = table.number(there, "score");
    const extra = there.top1 ? `; in tokens: diagonal less the rest ${signed(table.number(there, "diagonal_difference"), 2)}, ` +
                               `top 1 ${fixed(table.number(there, "top1"))}` : "";
    fill(readout, element("strong", {}, `head ${rows[row]} reads head ${columns[column]} (${how})`), ` ${fixed(score)}, ` +
         `${signed((score - baseline) / spread, 1)} deviations from random${extra}`);
  };
  const readBest = () => {
    const [best] = rows.flatMap((_, row) => columns.map((__, column) => [row, column])).filter((at) => cell(...at))
      .sort((a, b) => table.number(cell(...b), "score") - table.number(cell(...a), "score"));
    if (best) read(...best);
  };
  const made = figure(content, {
    title: "Composition of heads",
    caption: [`Scores ‖W_A W_B‖ / (‖W_A‖ ‖W_B‖). Random matrices of these shapes score ${fixed(baseline)} ± ${fixed(spread)}: ` +
              "white. Blue: the later head reads more of what the earlier one writes, orange: less."],
    draw(body, width) {
      const colours = signedRamp();
      body.replaceChildren();
      new HeatMap(body, { rows, columns, rowName: "later head", columnName: "earlier head",
        value: (row, column) => (cell(row, column) ? table.number(cell(row, column), "score") : null),
        colour: (score) => colours((score - baseline) / extent), number: (score) => fixed(score),
        isDark: (score) => Math.abs(score - baseline) > 0.6 * extent, onpoint: read,
        describe: () => `Composition scores (${how}) of ${rows.length} heads with ${columns.length} earlier ones: ${readout.textContent}. ` +
                        "Numbers are in the table composition." })
        .draw(width, { most: 76, rowHeight: rows.length > 12 ? null : 36 });
    },
  });
  made.legend.replaceWith(readout);
  choice(made.controls, { label: "Through", value: how, options: [["Q", "queries"], ["K", "keys"], ["V", "values"]],
    onchange: (value) => {
      how = value;
      readBest();
      made.redraw();
    } });
  readBest();
}

/** OV, QK and K-composition of one head as a map. */
function showMaps(content, run) {
  const { signs, positions, maps } = run.circuits;
  let chosen = { head: `${run.about.layers - 1}.0`, kind: "ov" };
  const kindsOf = (head) => maps.filter((map) => `${map.layer}.${map.head}` === head);
  const values = new Map();
  const readout = element("p", { class: "readout", "aria-live": "polite" });
  const note = element("p", { class: "small" });
  const current = () => kindsOf(chosen.head).find(({ kind }) => kind === chosen.kind) ?? kindsOf(chosen.head)[0];
  const made = figure(content, { title: "What a head's weights do", caption: [note], draw(body, width) {
    const map = current();
    if (!values.has(map)) values.set(map, unpack(map.values));
    const numbers = values.get(map);
    const byPosition = map.kind === "qk_positions";
    const labels = byPosition ? Array.from({ length: positions }, (_, i) => String(i)) : signs;
    const extent = Math.max(...numbers.map(Math.abs), 1e-12);
    const [signedColours, shares] = [signedRamp(), shareRamp()];
    const { rows: rowName, columns: columnName, text } = MAPS[map.kind];
    const value = (row, column) => (byPosition && column > row ? null : numbers[row * labels.length + column]);
    body.replaceChildren();
    new HeatMap(body, { rows: labels, columns: labels, rowName, columnName, value,
      colour: byPosition ? shares.css : (x) => signedColours(x / extent),
      onpoint: (row, column) => fill(readout, element("strong", {}, `${labels[row]} → ${labels[column]}`), ` ${signed(value(row, column))}`),
      describe: () => describeMap(map, numbers, labels.length) }).draw(width, { most: 11 });
    fill(readout, describeMap(map, numbers, labels.length));
    fill(note, text + (byPosition || signs.length === run.about.vocabulary ? "" : ` A sample of ${signs.length} of ${run.about.vocabulary} tokens.`));
  } });
  made.legend.replaceWith(readout);
  choice(made.controls, { label: "Head", value: chosen.head, options: run.headNames().map(({ name }) => [name, name]),
    onchange: (head) => {
      chosen = { ...chosen, head };
      made.redraw();
    } });
  const kinds = Object.keys(MAPS).filter((kind) => maps.some((map) => map.kind === kind));
  choice(made.controls, { label: "Map", value: chosen.kind, options: kinds.map((kind) => [kind, MAPS[kind].label]),
    onchange: (kind) => {
      chosen = { ...chosen, kind };
      made.redraw();
    } });
}

function describeMap({ kind, layer, head, earlier_layer: earlierLayer, earlier_head: earlierHead }, numbers, size) {
  const name = `${MAPS[kind].label} of head ${layer}.${head}${kind === "k_composition" ? ` through head ${earlierLayer}.${earlierHead}` : ""}`;
  if (kind === "qk_positions") {
    let sum = 0;
    for (let row = 1; row < size; ++row) sum += numbers[row * size + row - 1];
    return `${name}: mean weight on the previous position ${fixed(sum / Math.max(1, size - 1))}`;
  }
  let onTop = 0;
  for (let row = 0; row < size; ++row) {
    const line = numbers.subarray(row * size, (row + 1) * size);
    if (line.every((x, column) => column === row || x < line[row])) ++onTop;
  }
  return `${name}: the diagonal is the largest of its row for ${onTop} of ${size} tokens shown`;
}

/** The eigenvalues of each head's circuit in the complex plane, each plane scaled to its largest. */
function showEigenvalues(content, run, table, circuits) {
  const names = [...new Set(table.rows.map((row) => row.circuit))];
  let circuit = names.includes("OV_tokens") ? "OV_tokens" : names[0];
  const made = figure(content, {
    title: "Eigenvalues",
    caption: ["In the complex plane, each head on its own scale (the radius of the circle). To the right of the middle, " +
              "directions keep their sign: a head that copies has its eigenvalues of full OV there."],
    draw(body, width) {
      body.replaceChildren();
      const columns = Math.max(1, Math.min(run.about.heads, Math.floor(width / 150)));
      const side = Math.min(220, Math.floor(width / columns) - 12);
      const plane = element("div", { class: "planes" });
      body.append(plane);
      for (const { layer, head, name } of run.headNames()) {
        const rows = table.rows.filter((row) => row.circuit === circuit && Number(row.layer) === layer && Number(row.head) === head);
        drawPlane(plane, side, { name, colour: headColour(run, layer, head), circuit,
          points: rows.map((row) => [table.number(row, "re"), table.number(row, "im")]) });
      }
    },
  });
  made.legend.remove();
  choice(made.controls, { label: "Of", value: circuit,
    options: names.map((name) => [name, { OV: "OV", QK: "QK", OV_tokens: "full OV, in tokens" }[name] ?? name]),
    onchange: (value) => {
      circuit = value;
      made.redraw();
    } });
  if (circuits)
    made.caption.append(" Copying, Σ Re λ / Σ |λ| of full OV: " + circuits.rows.map((row) =>
      `${row.layer}.${row.head} ${fixed(circuits.number(row, "copying_eigenvalues"))}`).slice(0, 24).join(", ") + ".");
}

function drawPlane(parent, side, { name, colour, points, circuit }) {
  const radius = Math.max(1e-12, ...points.map(([re, im]) => Math.hypot(re, im)));
  const scale = scaleLinear().domain([-1.08 * radius, 1.08 * radius]).range([0, side]);
  const sum = points.reduce(([re, size], [a, b]) => [re + a, size + Math.hypot(a, b)], [0, 0]);
  const svg = select(parent).append("svg").attr("viewBox", `0 0 ${side} ${side + 18}`).attr("width", side).attr("height", side + 18)
    .attr("role", "img").attr("aria-label", `Eigenvalues of ${circuit} of head ${name}: ${points.length}, the largest ` +
                                            `${short(radius)}, sum of real parts over sum of sizes ${fixed(sum[0] / sum[1])}`);
  svg.append("text").attr("class", "name").attr("x", side / 2).attr("y", 12).attr("text-anchor", "middle").style("fill", colour)
    .text(`head ${name} · |λ| ≤ ${short(radius)}`);
  const plane = svg.append("g").attr("transform", "translate(0,18)");
  plane.append("circle").attr("class", "unit").attr("cx", side / 2).attr("cy", side / 2).attr("r", side / 2.16);
  plane.append("path").attr("class", "grid").attr("d", `M0,${side / 2}H${side}M${side / 2},0V${side}`);
  for (const [re, im] of points)
    plane.append("circle").attr("class", "eigenvalue").attr("cx", scale(re)).attr("cy", scale(-im)).attr("r", 3).style("fill", colour);
}

/** What each component adds to the right token's logit, above what it gives to all. */
function showAttribution(content, run, table) {
  const names = [...new Set(table.rows.map((row) => componentName(row)))];
  const of = (name, kind) => table.rows.find((row) => componentName(row) === name && row.kind === kind);
  const made = figure(content, {
    title: "What adds to the right token's logit",
    caption: [`Directly, above what the component gives to all tokens. The parts sum to the logit: the largest error ` +
              `is ${Number(table.rows[0].largest_error).toExponential(0)}.`],
    draw(body, width) {
      drawBars(body, width, { axis: "logit above the mean",
        groups: names.map((name) => ({ name, bars: ["induction", "noise"].filter((kind) => of(name, kind)).map((kind) => ({
          value: table.number(of(name, kind), "above_mean"), low: NaN, high: NaN, colour: `var(--${kind})`,
          text: signed(table.number(of(name, kind), "above_mean"), 2) })) })),
        describe: "Bars: " + names.map((name) => `${name} ${of(name, "induction") ? fixed(table.number(of(name, "induction"), "above_mean"), 2) : "–"}`)
          .join(", ") + " on induction positions. Numbers are in the table attribution." });
    },
  });
  fill(made.legend, key({ name: "on induction positions", colour: "var(--induction)", square: true }).root,
       key({ name: "on noise", colour: "var(--noise)", square: true }).root);
}

function componentName({ component, layer, head }) {
  if (layer === "") return words(component);
  return head === "" ? `layer ${layer} ${words(component)}` : `head ${layer}.${head}`;
}

/** The losses when the stream is read out after every layer. */
function showLens(content, table) {
  const columns = [["loss_induction", "induction", "var(--induction)"], ["loss_noise", "noise", "var(--noise)"]];
  const last = table.rows.length - 1;
  const made = figure(content, {
    title: "What could be read out after every layer",
    caption: ["The loss when the residual stream after so many layers is read out as if it were the last (the logit lens)."],
    draw(body, width) {
      const curves = columns.map(([column, , colour]) => ({ colour, hasDots: true,
        points: table.rows.map((row) => [table.number(row, "layer"), table.number(row, column)]) }));
      const highest = Math.max(...curves.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite));
      drawPanels(body, width, { panels: [{ label: "loss (nats)", height: 150, domain: [0, 1.05 * highest], curves }],
        x: { label: "layers passed", domain: [-0.1, last + 0.1], isLogarithmic: false, shaded: [] },
        describe: "Curves: " + columns.map(([column, name]) => `loss on ${name} after each layer ` +
          table.numbers(column).map((x) => fixed(x, 2)).join(", ")).join("; "),
        onpoint: () => {} });
    },
  });
  fill(made.legend, ...columns.map(([column, name, colour]) => key({ name, colour, value: fixed(table.numbers(column).at(-1)) }).root));
}
