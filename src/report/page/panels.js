// Curves over one x axis, panel above panel, with one reading line in all of them.

import { bisector } from "d3-array";
import { axisBottom, axisLeft } from "d3-axis";
import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { pictureIn } from "./figure.js";
import { short } from "./words.js";

const MARGIN = { left: 44, top: 20, bottom: 42 };
const GAP = 38; // between panels, where the label of the lower one stands

const whole = (tick) => tick.toLocaleString("en-US");
/** Room at the right for half of the text of a tick at the end of the axis. */
const marginRight = (x) => Math.max(12, 4 + 3.5 * whole(x.domain[1]).length);

const centre = bisector((point) => point[0]).center;
/** The point of a curve that is nearest to x. */
export function pointAt(points, x) {
  return points.length > 0 ? points[centre(points, x)] : null;
}

/**
 * Draws panels into `body`. A panel has a label, a height, a domain [low, high], curves { points: [[x, y], ...],
 * colour, dash, width }, and levels { y, colour, dash }, lines from side to side. `x` has a label, a domain, whether
 * it is logarithmic, shaded stretches [from, to], and marks, places to tick from below. `describe` is the text that
 * stands for the picture. `onpoint(x)` is called where somebody points, with null when nobody does any more,
 * `onpick(x)` where somebody clicks. Returns show(x), which moves the reading line there.
 */
export function drawPanels(body, width, { panels, x, describe, onpoint, onpick }) {
  const height =
    MARGIN.top +
    MARGIN.bottom +
    GAP * (panels.length - 1) +
    panels.reduce((sum, panel) => sum + panel.height, 0);
  const frame = {
    left: MARGIN.left,
    right: width - marginRight(x),
    top: MARGIN.top,
    bottom: height - MARGIN.bottom,
  };
  const across = (x.isLogarithmic ? scaleLog() : scaleLinear())
    .domain(x.domain)
    .range([frame.left, frame.right]);
  const svg = pictureIn(body, width, height, describe);

  let top = frame.top;
  const placed = panels.map((panel) => {
    const up = scaleLinear()
      .domain(panel.domain)
      .range([top + panel.height, top]);
    drawPanel(svg.append("g"), panel, x, across, up, frame);
    top += panel.height + GAP;
    return { panel, up };
  });
  drawAxisBelow(svg.append("g"), x, across, frame);
  const reading = svg.append("g").attr("class", "reading").attr("aria-hidden", "true");
  listen(svg.node(), width, frame, across, { onpoint, onpick });
  return (at) => showReading(reading, at, placed, across);
}

function drawPanel(group, panel, x, across, up, frame) {
  const [bottom, top] = up.range();
  const inside = ([from, to]) => [Math.max(from, x.domain[0]), Math.min(to, x.domain[1])];
  for (const [from, to] of x.shaded.map(inside))
    group
      .append("rect")
      .attr("class", "shade")
      .attr("x", across(from))
      .attr("y", top)
      .attr("width", Math.max(0, across(to) - across(from)))
      .attr("height", bottom - top);
  const axis = group
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${frame.left},0)`)
    .call(
      axisLeft(up)
        .ticks(Math.max(2, Math.floor(panel.height / 40)))
        .tickSize(0)
        .tickPadding(6)
        .tickFormat(short),
    );
  axis
    .selectAll(".tick")
    .append("line")
    .attr("class", "grid")
    .attr("x2", frame.right - frame.left);
  group
    .append("text")
    .attr("class", "label")
    .attr("x", 0)
    .attr("y", top - 9)
    .text(panel.label);
  for (const level of panel.levels ?? [])
    group
      .append("line")
      .attr("class", "level")
      .attr("x1", frame.left)
      .attr("x2", frame.right)
      .attr("y1", up(level.y))
      .attr("y2", up(level.y))
      .style("stroke", level.colour)
      .attr("stroke-dasharray", level.dash);
  const path = line()
    .x((point) => across(point[0]))
    .y((point) => up(point[1]));
  for (const curve of panel.curves) {
    const known = curve.points.filter(([at, value]) => Number.isFinite(value) && at >= x.domain[0]);
    group
      .append("path")
      .attr("class", "curve")
      .attr("d", path(known))
      .style("stroke", curve.colour)
      .attr("stroke-dasharray", curve.dash ?? "none")
      .attr("stroke-width", curve.width ?? 1.8);
    if (known.length === 1 || curve.hasDots)
      for (const [at, value] of known)
        group
          .append("circle")
          .attr("cx", across(at))
          .attr("cy", up(value))
          .attr("r", 2.5)
          .style("fill", curve.colour);
  }
}

function drawAxisBelow(group, x, across, frame) {
  const ticks = Math.max(2, Math.floor((frame.right - frame.left) / 90));
  const axis = axisBottom(across).tickSize(5).tickPadding(4);
  if (x.isLogarithmic) axis.tickValues(logarithmicTicks(across)).tickFormat(whole);
  else axis.tickValues(across.ticks(ticks).filter(Number.isInteger)).tickFormat(whole);
  group.attr("class", "axis").attr("transform", `translate(0,${frame.bottom})`).call(axis);
  for (const mark of x.marks ?? [])
    if (mark >= x.domain[0] && mark <= x.domain[1])
      group
        .append("path")
        .attr("class", "mark")
        .attr("d", `M${across(mark)},-1 l3,-6 l-6,0 z`);
  group
    .append("text")
    .attr("class", "label")
    .attr("x", (frame.left + frame.right) / 2)
    .attr("y", 36)
    .attr("text-anchor", "middle")
    .text(x.label);
}

/** 1, 2, 5, 10 and so on as far as they have room, or powers of ten alone. */
function logarithmicTicks(across) {
  const [first, last] = across.domain();
  const ticks = [];
  for (let power = 10 ** Math.floor(Math.log10(first)); power <= last; power *= 10)
    for (const digit of [1, 2, 5])
      if (digit * power >= first && digit * power <= last) ticks.push(digit * power);
  const isRoomy = ticks.every((tick, i) => i === 0 || across(tick) - across(ticks[i - 1]) > 40);
  return isRoomy ? ticks : ticks.filter((tick) => Number.isInteger(Math.log10(tick)));
}

function showReading(reading, at, placed, across) {
  reading.selectAll("*").remove();
  const [first, last] = across.domain();
  if (at === null || at < first || at > last) return;
  for (const { panel, up } of placed) {
    const [bottom, top] = up.range();
    reading.append("line").attr("x1", across(at)).attr("x2", across(at)).attr("y1", top).attr("y2", bottom);
    for (const curve of panel.curves) {
      const point = curve.isSilent ? null : pointAt(curve.points, at);
      if (point && Number.isFinite(point[1]))
        reading
          .append("circle")
          .attr("cx", across(point[0]))
          .attr("cy", up(point[1]))
          .attr("r", 3.5)
          .style("fill", curve.colour);
    }
  }
}

function listen(svg, width, frame, across, { onpoint, onpick }) {
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const left = ((event.clientX - box.left) / box.width) * width;
    return across.invert(Math.max(frame.left, Math.min(frame.right, left)));
  };
  svg.addEventListener("pointermove", (event) => onpoint(at(event)));
  svg.addEventListener("pointerdown", (event) => onpoint(at(event)));
  svg.addEventListener("pointerleave", () => onpoint(null));
  if (onpick) svg.addEventListener("click", (event) => onpick(at(event)));
}
