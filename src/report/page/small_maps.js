// Every head as a small map to choose from: layers are rows, heads columns.

import { element } from "./dom.js";
import { headColour } from "./palette.js";
import { fixed, words } from "./words.js";

const LARGEST = 160; // pixels
const SMALLEST = 26;
const LEGIBLE = 84;
const FRAME = 22; // around each
const LOOKS = ["previous_token", "current_token", "first_token", "duplicate_token", "induction"];
/** By so much the highest score of a head is above that of an even one, where it is named. */
export const NAMED_ABOVE = 0.1;

export class SmallMaps {
  /** `onchoose(layer, head)` is called when one is chosen. */
  constructor(parent, run, onchoose) {
    this.run = run;
    this.onchoose = onchoose;
    const { layers, heads } = run.about;
    this.root = element("div", {
      class: "small-maps",
      role: "radiogroup",
      "aria-label": "Head",
      style: `--heads: ${heads}`,
      onkeydown: (event) => this.move(event),
    });
    this.maps = run.headNames().map(({ layer, head, name }) => {
      const canvas = element("canvas", { "aria-hidden": "true" });
      const score = element("span", { class: "score" });
      const button = element(
        "button",
        {
          type: "button",
          role: "radio",
          class: "small-map",
          style: `--colour: ${headColour(run, layer, head)}`,
          onclick: () => onchoose(layer, head),
        },
        canvas,
        element("span", { class: "head-name" }, name),
        score,
      );
      return { layer, head, name, canvas, score, button };
    });
    this.root.append(...this.maps.map(({ button }) => button));
    this.rows = new Map(this.maps.map(({ name }) => [name, new Map()]));
    for (const row of run.table("heads")?.rows ?? [])
      this.rows.get(`${row.layer}.${row.head}`)?.set(Number(row.step), row);
    this.chosen = (layers - 1) * heads;
    parent.append(this.root);
  }

  /** Arrow keys go from head to head. */
  move(event) {
    const { heads } = this.run.about;
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
    const to = this.maps[this.chosen + step];
    if (!step) return;
    event.preventDefault();
    if (!to) return;
    this.onchoose(to.layer, to.head);
    to.button.focus();
  }

  /** Whether a row of them, each of a legible size, has room in a width. */
  fitsIn(width) {
    return this.run.about.heads * (LEGIBLE + FRAME) <= width;
  }

  /** Makes maps of so many positions fit into a width; small ones do without their scores. */
  fit(width, positions) {
    const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(width / this.run.about.heads) - FRAME));
    // Whole pixels a cell where there are so many.
    this.size = size >= positions ? size - (size % positions) : size;
    this.root.classList.toggle("terse", size < LEGIBLE);
  }

  /** Paints all; `weightsOf(layer, head)` gives weight(query, key), `rgb` the colour of a weight. */
  paint({ layer, head, step, positions, weightsOf, rgb }) {
    this.chosen = layer * this.run.about.heads + head;
    this.maps.forEach((map, i) => {
      const best = this.bestScore(map.name, step);
      map.score.textContent = best;
      map.button.setAttribute("aria-checked", i === this.chosen);
      map.button.setAttribute("aria-label", `head ${map.name}${best ? `, ${best}` : ""}`);
      map.button.tabIndex = i === this.chosen ? 0 : -1;
      this.paintOne(map.canvas, positions, weightsOf(map.layer, map.head), rgb);
    });
  }

  paintOne(canvas, positions, weight, rgb) {
    const image = new ImageData(positions, positions);
    for (let query = 0; query < positions; ++query)
      for (let key = 0; key <= query; ++key) {
        const at = 4 * (query * positions + key);
        image.data.set(rgb(weight(query, key)), at);
        image.data[at + 3] = 255;
      }
    canvas.width = canvas.height = positions;
    canvas.style.width = canvas.style.height = `${this.size}px`;
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** The highest of the scores that say where the head looks, if it was scored at that step and is no even head. */
  bestScore(name, step) {
    const row = this.rows.get(name).get(step);
    if (!row) return "";
    const scores = LOOKS.filter((score) => row[score]);
    if (scores.length === 0) return "";
    const best = scores.reduce((a, b) => (Number(row[b]) > Number(row[a]) ? b : a));
    const chance = this.run.scores.find(({ name: score }) => score === best)?.chance ?? 0;
    return Number(row[best]) < chance + NAMED_ABOVE ? "" : `${words(best)} ${fixed(Number(row[best]), 2)}`;
  }
}
