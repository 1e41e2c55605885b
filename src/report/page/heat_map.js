// A matrix as colours: cells to point at, with the mouse, a finger or the arrow keys. Cells are painted; labels,
// numbers and rings stand over them as text and lines.

import { select } from "d3-selection";
import { element } from "./dom.js";

const GAP = 5; // between labels and cells
const AXIS_NAME = 16; // that the name of an axis needs
const LEGIBLE = 9; // pixels from one label to the next
const FONT = 10.5; // pixels, of labels that have room
const CHARACTER = 6.4; // about how wide one is
const LONGEST = 110; // that a label may be
const ROOM_FOR_NUMBERS = [40, 18];
const FLAG = 13; // pixels from one to the next
const LEAST = 220; // pixels, of the side of a map that has room
const FLAGS = 20; // that their row takes

/**
 * `rows` and `columns` are labels; `value(row, column)` is a number, or null where there is no cell. `colour(value)`
 * is what it is painted in. `number(value)`, if given, is written into cells that have room, in the colour
 * `ink(value)`. `marks` are [row, column] pairs to ring, `flags` [column, text] pairs to write over columns.
 * `rowName` and `columnName` name the axes. `onpoint(row, column)` is called for the cell that is pointed at.
 * `describe()` is the text that stands for the picture. `start()` is the cell that the keys begin at.
 */
export class HeatMap {
  constructor(parent, spec) {
    this.spec = spec;
    this.cursor = null;
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.root = element("div", { class: "heat-map", role: "img", tabindex: 0 }, this.canvas);
    this.svg = select(this.root).append("svg").attr("aria-hidden", "true");
    parent.append(this.root);
    for (const event of ["pointermove", "pointerdown"])
      this.root.addEventListener(event, (happened) => this.point(...this.cellAt(happened)));
    this.root.addEventListener("keydown", (event) => this.move(event));
  }

  /**
   * Paints it for this width; a cell gets at most so wide, or wider where there are few, and as high as wide, but no
   * higher than `highest`, unless `rowHeight` is given.
   */
  draw(width, { most = 24, rowHeight = null, highest = Infinity } = {}) {
    const { rows, columns, rowName, flags = [] } = this.spec;
    const widest = (labels) =>
      Math.min(LONGEST, CHARACTER * Math.max(1, ...labels.map((label) => label.length)));
    this.left = Math.ceil(widest(rows) + 2 * GAP + AXIS_NAME);
    this.top = flags.length > 0 ? FLAGS : 2;
    const count = Math.max(1, columns.length);
    this.cell = Math.min(Math.max(most, LEAST / count), (width - this.left - 2) / count);
    const forName = (CHARACTER * rowName.length) / Math.max(1, rows.length);
    this.height = Math.max(rowHeight ?? Math.min(this.cell, highest), forName);
    // Of numbers in order some may be left out; other labels are turned to make room for all.
    const isCounting = columns.every((label, i) => label === String(i));
    this.isTurned = widest(columns) > Math.max(this.cell - 2, CHARACTER) && !isCounting;
    this.below = (this.isTurned ? widest(columns) : LEGIBLE) + 2 * GAP;
    this.size = [
      Math.ceil(this.left + this.cell * columns.length + 2),
      Math.ceil(this.top + this.height * rows.length + this.below + AXIS_NAME),
    ];
    const ratio = window.devicePixelRatio || 1;
    [this.canvas.width, this.canvas.height] = this.size.map((side) => Math.round(side * ratio));
    [this.root.style.width, this.root.style.height] = this.size.map((side) => `${side}px`);
    this.svg.attr("viewBox", `0 0 ${this.size.join(" ")}`);
    this.ratio = ratio;
    this.paint();
  }

  /** Paints it anew where only values, rings or the cursor have changed. */
  paint() {
    if (!this.size) return;
    this.paintCells();
    this.root.setAttribute("aria-label", this.spec.describe());
    this.svg.selectAll("*").remove();
    this.drawLabels();
    if (this.spec.number && this.cell >= ROOM_FOR_NUMBERS[0] && this.height >= ROOM_FOR_NUMBERS[1])
      this.drawNumbers();
    for (const [row, column] of this.spec.marks ?? []) this.ring(row, column, "target");
    if (this.cursor) this.ring(...this.cursor, "cursor");
  }

  paintCells() {
    const { rows, columns, value, colour } = this.spec;
    const context = this.canvas.getContext("2d");
    const missing = getComputedStyle(this.root).getPropertyValue("--missing");
    const gap = this.cell > 7 ? 0.5 : 0;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, ...this.size);
    rows.forEach((_, row) =>
      columns.forEach((__, column) => {
        const there = value(row, column);
        if (there === null) return;
        context.fillStyle = Number.isFinite(there) ? colour(there) : missing;
        context.fillRect(
          this.left + column * this.cell,
          this.top + row * this.height,
          this.cell - gap,
          this.height - gap,
        );
      }),
    );
  }

  drawLabels() {
    const { rows, columns, flags = [] } = this.spec;
    const group = this.svg.append("g").attr("class", "labels");
    group
      .append("rect")
      .attr("class", "frame")
      .attr("x", this.left)
      .attr("y", this.top)
      .attr("width", this.cell * columns.length)
      .attr("height", this.height * rows.length);
    const [rowStep, columnStep] = this.labelSteps();
    const font = `${Math.min(FONT, rowStep * this.height)}px`;
    const labels = group.append("g").style("font-size", font);
    this.labelRows(labels, rowStep);
    this.labelColumns(labels, columnStep);
    this.nameAxes(group);
    this.drawFlags(group, flags);
  }

  /** How far apart labelled rows and columns are, in cells: alike where both have the same labels. */
  labelSteps() {
    const { rows, columns } = this.spec;
    const longest = Math.max(...columns.map((label) => label.length));
    const rowStep = stepOf(rows.length, this.height, LEGIBLE);
    const columnStep = stepOf(columns.length, this.cell, this.isTurned ? LEGIBLE : CHARACTER * longest + 3);
    const both = Math.max(rowStep, columnStep);
    return rows === columns ? [both, both] : [rowStep, columnStep];
  }

  labelRows(group, step) {
    const { rows } = this.spec;
    for (const row of every(rows.length, step))
      group
        .append("text")
        .attr("x", this.left - GAP)
        .attr("y", this.top + (row + 0.5) * this.height)
        .attr("dy", "0.32em")
        .attr("text-anchor", "end")
        .text(clipped(rows[row]));
  }

  labelColumns(group, step) {
    const { rows, columns } = this.spec;
    const y = this.top + this.height * rows.length + GAP;
    for (const column of every(columns.length, step)) {
      const x = this.left + (column + 0.5) * this.cell;
      const text = group.append("text").text(clipped(columns[column]));
      if (this.isTurned && columns[column].length > 1)
        text
          .attr("transform", `translate(${x},${y}) rotate(-90)`)
          .attr("text-anchor", "end")
          .attr("dy", "0.32em");
      else text.attr("x", x).attr("y", y).attr("dy", "0.8em").attr("text-anchor", "middle");
    }
  }

  nameAxes(group) {
    const { rows, columns, rowName, columnName } = this.spec;
    group
      .append("text")
      .attr("class", "label")
      .attr("text-anchor", "middle")
      .attr("x", this.left + (this.cell * columns.length) / 2)
      .attr("y", this.size[1] - 4)
      .text(columnName);
    group
      .append("text")
      .attr("class", "label")
      .attr("text-anchor", "middle")
      .attr("transform", `translate(11,${this.top + (this.height * rows.length) / 2}) rotate(-90)`)
      .text(rowName);
  }

  /** Letters over their columns, moved apart where columns are narrow, each with a line to its own. */
  drawFlags(group, flags) {
    const places = flags.map(([column]) => this.left + (column + 0.5) * this.cell);
    spread(places, FLAG, this.size[0] - FLAG / 2).forEach((x, i) => {
      group
        .append("text")
        .attr("class", "flag")
        .attr("x", x)
        .attr("y", this.top - 9)
        .attr("text-anchor", "middle")
        .text(flags[i][1]);
      group
        .append("line")
        .attr("class", "to-flag")
        .attr("x1", x)
        .attr("y1", this.top - 7)
        .attr("x2", places[i])
        .attr("y2", this.top - 1);
    });
  }

  drawNumbers() {
    const { rows, columns, value, number, ink } = this.spec;
    const group = this.svg.append("g").attr("class", "numbers");
    rows.forEach((_, row) =>
      columns.forEach((__, column) => {
        const there = value(row, column);
        if (there === null || !Number.isFinite(there)) return;
        group
          .append("text")
          .attr("x", this.left + (column + 0.5) * this.cell)
          .attr("y", this.top + (row + 0.5) * this.height)
          .attr("dy", "0.32em")
          .attr("text-anchor", "middle")
          .style("fill", ink(there))
          .text(number(there));
      }),
    );
  }

  ring(row, column, name) {
    this.svg
      .append("rect")
      .attr("class", name)
      .attr("x", this.left + column * this.cell - 0.5)
      .attr("y", this.top + row * this.height - 0.5)
      .attr("width", this.cell)
      .attr("height", this.height);
  }

  cellAt(event) {
    const box = this.root.getBoundingClientRect();
    return [
      Math.floor((event.clientY - box.top - this.top) / this.height),
      Math.floor((event.clientX - box.left - this.left) / this.cell),
    ];
  }

  /** Points at a cell, if there is one. */
  point(row, column) {
    const { rows, columns, value, onpoint } = this.spec;
    if (
      row < 0 ||
      column < 0 ||
      row >= rows.length ||
      column >= columns.length ||
      value(row, column) === null
    )
      return;
    this.cursor = [row, column];
    this.paint();
    onpoint(row, column);
  }

  /** Arrow keys go from cell to cell, Home and End to the ends of a row, with Ctrl of a column. */
  move(event) {
    const [row, column] = this.cursor ?? this.spec.start?.() ?? [0, 0];
    const to = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: event.ctrlKey ? [this.ends(null, column)[0], column] : [row, this.ends(row, null)[0]],
      End: event.ctrlKey ? [this.ends(null, column)[1], column] : [row, this.ends(row, null)[1]],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    if (this.cursor) this.point(...to);
    else this.point(row, column);
  }

  /** The first and the last cell of a row or of a column. */
  ends(row, column) {
    const { rows, columns, value } = this.spec;
    const line = row === null ? rows.map((_, i) => value(i, column)) : columns.map((_, i) => value(row, i));
    const isThere = (cell) => cell !== null;
    return [line.findIndex(isThere), line.findLastIndex(isThere)];
  }
}

/** Ascending places, moved to the right until they are so far apart, but none beyond `last`. */
function spread(places, apart, last) {
  let before = -Infinity;
  return places.map((place, i) => {
    before = Math.min(Math.max(place, before + apart), last - apart * (places.length - 1 - i));
    return before;
  });
}

function clipped(label) {
  const most = Math.floor(LONGEST / CHARACTER);
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`;
}

/** After how many of `count`, which stand `pitch` pixels apart, the next is `least` pixels away. */
function stepOf(count, pitch, least) {
  return [1, 2, 4, 5, 8, 10, 16, 20, 50, 100].find((n) => n * pitch >= least) ?? count;
}
/** 0, step, 2 step, ..., below count. */
function every(count, step) {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}
