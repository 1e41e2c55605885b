// The eigenvalues of each head's circuits in the complex plane.

import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { element } from "./dom.js";
import { choice } from "./choice.js";
import { figure } from "./figure.js";
import { headColour } from "./palette.js";
import { firstOf, fixed, short } from "./words.js";

const MOST_PLANES = 16; // beside each other; more are shown layer by layer
const MOST_NAMED = 8; // heads

/** A plane a head, each scaled to its largest. */
export function showEigenvalues(content, run, table, circuits) {
  const names = [...new Set(table.rows.map((row) => row.circuit))];
  let circuit = names.includes("OV_tokens") ? "OV_tokens" : names[0];
  const heads = run.headNames();
  const isByLayer = heads.length > MOST_PLANES && run.about.layers > 1;
  let shownLayer = run.about.layers - 1;
  const made = figure(content, {
    title: "Eigenvalues",
    caption: [
      "In the complex plane, each head on its own scale (the radius of the circle). To the right of the middle, " +
        "directions keep their sign: a head that copies has its eigenvalues of full OV there.",
    ],
    draw(body, width) {
      body.replaceChildren();
      const most = Math.max(1, Math.floor(width / 150));
      const columns = Math.ceil(run.about.heads / Math.ceil(run.about.heads / most));
      const side = Math.min(220, Math.floor(width / columns) - 12);
      const plane = element("div", { class: "planes" });
      body.append(plane);
      for (const { layer, head, name } of heads) {
        if (isByLayer && layer !== shownLayer) continue;
        const rows = table.rows.filter(
          (row) => row.circuit === circuit && Number(row.layer) === layer && Number(row.head) === head,
        );
        drawPlane(plane, side, {
          name,
          colour: headColour(run, layer, head),
          circuit,
          points: rows.map((row) => [table.number(row, "re"), table.number(row, "im")]),
        });
      }
    },
  });
  made.legend.remove();
  choice(made.controls, {
    label: "Of",
    value: circuit,
    options: names.map((name) => [
      name,
      { OV: "OV", QK: "QK", OV_tokens: "full OV, in tokens" }[name] ?? name,
    ]),
    onchange: (value) => {
      circuit = value;
      made.redraw();
    },
  });
  if (isByLayer)
    choice(made.controls, {
      label: "Layer",
      value: shownLayer,
      options: Array.from({ length: run.about.layers }, (_, layer) => [layer, String(layer)]),
      onchange: (layer) => {
        shownLayer = layer;
        made.redraw();
      },
    });
  if (circuits) made.caption.append(copyingInWords(circuits));
}

/** The heads that copy most, the first of all first. */
function copyingInWords(circuits) {
  const heads = circuits.rows
    .map((row) => ({ row, copying: circuits.number(row, "copying_eigenvalues") }))
    .filter(({ copying }) => Number.isFinite(copying))
    .sort((a, b) => b.copying - a.copying)
    .map(({ row, copying }) => `${row.layer}.${row.head} ${fixed(copying)}`);
  return heads.length === 0
    ? ""
    : ` Copying, Σ Re λ / Σ |λ| of full OV, the highest first: ${firstOf(heads, MOST_NAMED, "circuits")}.`;
}

function drawPlane(parent, side, { name, colour, points, circuit }) {
  const radius = Math.max(1e-12, ...points.map(([re, im]) => Math.hypot(re, im)));
  const scale = scaleLinear()
    .domain([-1.08 * radius, 1.08 * radius])
    .range([0, side]);
  const sum = points.reduce(([re, size], [a, b]) => [re + a, size + Math.hypot(a, b)], [0, 0]);
  const svg = select(parent)
    .append("svg")
    .attr("viewBox", `0 0 ${side} ${side + 18}`)
    .attr("width", side)
    .attr("height", side + 18)
    .attr("role", "img")
    .attr(
      "aria-label",
      `Eigenvalues of ${circuit} of head ${name}: ${points.length}, the largest ` +
        `${short(radius)}, sum of real parts over sum of sizes ${fixed(sum[0] / sum[1])}`,
    );
  svg
    .append("text")
    .attr("class", "name")
    .attr("x", side / 2)
    .attr("y", 12)
    .attr("text-anchor", "middle")
    .text(`head ${name} · |λ| ≤ ${short(radius)}`);
  const plane = svg.append("g").attr("transform", "translate(0,18)");
  plane
    .append("circle")
    .attr("class", "unit")
    .attr("cx", side / 2)
    .attr("cy", side / 2)
    .attr("r", side / 2.16);
  plane
    .append("path")
    .attr("class", "grid")
    .attr("d", `M0,${side / 2}H${side}M${side / 2},0V${side}`);
  for (const [re, im] of points)
    plane
      .append("circle")
      .attr("class", "eigenvalue")
      .attr("cx", scale(re))
      .attr("cy", scale(-im))
      .attr("r", 3)
      .style("fill", colour);
}
