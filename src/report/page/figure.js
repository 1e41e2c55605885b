// The frame of every picture: a title, controls, the picture, which is drawn anew when its width or the colours
// change, and a caption.

import { select } from "d3-selection";
import { element } from "./dom.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/**
 * Puts a figure into `parent`. `draw(body, width)` fills the body for a width in pixels. Returns the figure's parts
 * and `redraw`, to be called when the data have changed.
 */
export function figure(parent, { title, draw, caption = [] }) {
  const controls = element("div", { class: "controls" });
  const legend = element("div", { class: "legend" });
  const body = element("div", { class: "picture" });
  const root = element(
    "figure",
    {},
    element("h3", {}, title),
    controls,
    legend,
    body,
    element("figcaption", {}, ...caption),
  );
  parent.append(root);
  let width = 0;
  const redraw = () => {
    if (width > 0) draw(body, width);
  };
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === width) return;
    width = now;
    redraw();
  }).observe(body);
  dark.addEventListener("change", redraw);
  return { root, controls, legend, body, caption: root.lastChild, redraw };
}

/** An empty picture of that size in place of what `body` holds; `describe` is the text that stands for it. */
export function pictureIn(body, width, height, describe) {
  body.replaceChildren();
  return select(body)
    .append("svg")
    .attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width)
    .attr("height", height)
    .attr("role", "img")
    .attr("aria-label", describe);
}

/** An entry of a legend: a line or a square in a colour, a name, and room for a value. */
export function key({ name, colour, dash = "none", square = false, isThin = false, value = "" }) {
  const kind = square ? "square" : dash !== "none" ? "dashes" : isThin ? "line thin" : "line";
  const sample = element("span", { class: kind });
  if (square || dash === "none") sample.style.background = colour;
  else
    select(sample)
      .append("svg")
      .attr("width", 26)
      .attr("height", 4)
      .attr("aria-hidden", "true")
      .append("line")
      .attr("x2", 26)
      .attr("y1", 2)
      .attr("y2", 2)
      .attr("stroke-dasharray", dash)
      .attr("stroke-width", 2)
      .style("stroke", colour);
  const number = element("output", {}, value);
  return { root: element("span", { class: "key" }, sample, name, " ", number), number };
}
