// Horizontal bars with their intervals, group by group, from a common zero.

import { scaleLinear } from "d3-scale";
import { axisTop } from "d3-axis";
import { pictureIn } from "./figure.js";
import { short } from "./words.js";

const BAR = 15;
const BETWEEN = 12; // groups
const TOP = 44;
const LONGEST_NAME = 150;
const CHARACTER = 6.6;

/**
 * `groups` are { name, bars }, bars { value, low, high, colour, text }: `text` stands to the right of the bar. `axis`
 * names the numbers, `describe` is the text that stands for the picture.
 */
export function drawBars(body, width, { groups, axis, describe }) {
  const bars = groups.flatMap((group) => group.bars);
  const numbers = bars.flatMap(({ value, low, high }) => [value, low, high]).filter(Number.isFinite);
  const textRoom = CHARACTER * Math.max(4, ...bars.map(({ text }) => text.length)) + 8;
  const left = Math.min(LONGEST_NAME, CHARACTER * Math.max(...groups.map(({ name }) => name.length))) + 10;
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const across = scaleLinear()
    .domain([low, high === low ? 1 : high])
    .range([left, width - textRoom]);
  const height = TOP + groups.reduce((sum, group) => sum + group.bars.length * BAR + BETWEEN, 0);
  const svg = pictureIn(body, width, height, describe);
  const scale = svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${TOP - 6})`)
    .call(
      axisTop(across)
        .ticks(Math.max(2, Math.floor((width - left) / 110)))
        .tickSize(0)
        .tickPadding(5)
        .tickFormat(short),
    );
  scale
    .selectAll(".tick")
    .append("line")
    .attr("class", "grid")
    .attr("y2", height - TOP);
  svg.append("text").attr("class", "label").attr("x", 0).attr("y", 11).text(axis);

  let top = TOP;
  for (const group of groups) {
    const middle = top + (group.bars.length * BAR) / 2;
    svg
      .append("text")
      .attr("x", 0)
      .attr("y", middle)
      .attr("dy", "0.32em")
      .attr("class", "name")
      .text(group.name);
    for (const bar of group.bars) {
      drawBar(svg, bar, across, top);
      top += BAR;
    }
    top += BETWEEN;
  }
  svg
    .append("line")
    .attr("class", "zero")
    .attr("x1", across(0))
    .attr("x2", across(0))
    .attr("y1", TOP - 6)
    .attr("y2", height);
}

function drawBar(svg, { value, low, high, colour, text }, across, top) {
  const [middle, zero] = [top + BAR / 2, across(0)];
  if (!Number.isFinite(value)) return;
  const end = across(value);
  svg
    .append("rect")
    .attr("x", Math.min(zero, end))
    .attr("y", top + 2)
    .attr("width", Math.max(0.5, Math.abs(end - zero)))
    .attr("height", BAR - 4)
    .style("fill", colour);
  if (Number.isFinite(low) && Number.isFinite(high))
    svg
      .append("line")
      .attr("class", "interval")
      .attr("x1", across(low))
      .attr("x2", across(high))
      .attr("y1", middle)
      .attr("y2", middle);
  const edge = Math.max(zero, end, across(Number.isFinite(high) ? high : value));
  svg
    .append("text")
    .attr("class", "value")
    .attr("x", edge + 5)
    .attr("y", middle)
    .attr("dy", "0.32em")
    .text(text);
}
