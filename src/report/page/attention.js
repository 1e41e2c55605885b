// The attention viewer: one map to read, all heads as small maps beside it, the sequence's tokens to point at, and a
// slider over the checkpoints.

import { select } from "d3-selection";
import { line } from "d3-shape";
import { element, fill } from "./dom.js";
import { choice, tick } from "./choice.js";
import { figure } from "./figure.js";
import { HeatMap } from "./heat_map.js";
import { headColour, shareRamp } from "./palette.js";
import { fixed, grouped, list, place, words } from "./words.js";

const FRAME = 280; // milliseconds a checkpoint while it plays
const LISTED = 3; // keys that are named, the strongest first
const BESIDE = 760; // pixels from which small maps stand beside the large one
const SMALL = { most: 160, least: 26, frame: 22 };
const THUMB = 8; // half of the slider's, which its ends leave free

export function showAttention(content, run, moment) {
  if (run.attention) new Viewer(content, run, moment);
  else content.append(element("p", { class: "missing" }, run.about.layers === 0 ? "This model has no heads."
    : "There are no maps: see what the program said when it wrote this page."));
}

class Viewer {
  constructor(content, run, moment) {
    Object.assign(this, { run, moment, attention: run.attention, sequence: 0, layer: run.about.layers - 1, head: 0,
                          marksTargets: true, timer: null });
    this.query = this.lastTarget();
    this.figure = figure(content, {
      title: "What each token looks at",
      draw: (body, width) => this.draw(width),
      caption: this.caption(),
    });
    this.build();
    moment.subscribe(() => this.update());
  }

  get signs() {
    return this.attention.sequences[this.sequence].signs;
  }
  get targets() {
    return this.attention.sequences[this.sequence].targets;
  }
  /** The induction targets of a query: after its token's earlier copy, after that one's, and so on. */
  targetsOf(query) {
    const found = [];
    for (let target = this.targets[query]; target >= 1; target = this.targets[target - 1]) found.push(target);
    return found;
  }
  /** The last query whose target can be copied, or the last. */
  lastTarget() {
    const last = this.targets.findLastIndex((target) => target >= 0);
    return last >= 0 ? last : this.signs.length - 1;
  }
  map(layer = this.layer, head = this.head) {
    return this.attention.map(this.moment.checkpoint, this.sequence, layer, head);
  }

  caption() {
    const { attention } = this.run;
    const left = attention.checkpoints - attention.steps.length;
    return ["Rows are queries, columns the keys they look at; ringed: induction targets, after earlier copies of the " +
            "query's token. Over the slider: the accuracy on induction positions at each checkpoint. " + (left > 0 ? `${attention.steps.length} of the run's ${attention.checkpoints} checkpoints are shown. ` : "") +
            "Small maps: every head, with its highest score at that step."];
  }

  build() {
    const { body, controls, legend } = this.figure;
    this.addControls(controls);
    legend.remove();
    this.readout = element("p", { class: "readout", "aria-live": "polite" });
    this.tokens = element("div", { class: "tokens", role: "group", "aria-label": "Tokens of the sequence" });
    this.large = element("div", { class: "large" });
    this.heading = element("p", { class: "map-title" });
    this.small = element("div", { class: "small-maps", role: "radiogroup", "aria-label": "Head" });
    body.classList.add("viewer");
    fill(body, this.tokens, this.readout, element("div", { class: "maps" },
      element("div", {}, this.heading, this.large), this.small));
    this.heat = new HeatMap(this.large, this.largeMap());
    this.addTokens();
    this.addSmallMaps();
  }

  addControls(controls) {
    const steps = this.attention.steps;
    this.play = element("button", { type: "button", class: "play", onclick: () => this.toggle() }, "▶ Play");
    this.slider = element("input", { type: "range", min: 0, max: steps.length - 1, step: 1, disabled: steps.length < 2,
      "aria-label": "Checkpoint", oninput: () => {
        this.stop();
        this.moment.goTo(Number(this.slider.value));
      } });
    this.stepName = element("output", { class: "step" });
    this.track = element("div", { class: "track" }, this.slider);
    controls.classList.add("film");
    controls.append(this.play, this.track, this.stepName);
    const more = element("div", { class: "controls" });
    controls.after(more);
    if (this.attention.sequences.length > 1)
      choice(more, { label: "Sequence", value: 0, options: this.attention.sequences.map((_, i) => [i, String(i + 1)]),
                     onchange: (sequence) => {
                       this.sequence = sequence;
                       this.query = this.lastTarget();
                       this.addTokens();
                       this.heat.spec = this.largeMap();
                       this.figure.redraw();
                     } });
    if (this.attention.sequences.some(({ targets }) => targets.some((target) => target >= 0)))
      tick(more, { label: "ring induction targets", checked: true, onchange: (checked) => {
        this.marksTargets = checked;
        this.update();
      } });
  }

  /** Over the slider, how far the model had come at each checkpoint. */
  drawTrack() {
    const metrics = this.run.table("metrics");
    if (!metrics || this.attention.steps.length < 2) return;
    const accuracy = new Map(metrics.rows.map((row) => [Number(row.step), metrics.number(row, "accuracy_induction")]));
    const width = this.track.clientWidth;
    const pitch = (width - 2 * THUMB) / (this.attention.steps.length - 1);
    const points = this.attention.steps.map((step, i) => [THUMB + i * pitch, accuracy.get(step)])
      .filter(([, y]) => Number.isFinite(y));
    this.track.querySelector("svg")?.remove();
    const svg = select(this.track).insert("svg", "input").attr("width", width).attr("height", 30).attr("aria-hidden", "true");
    const up = (y) => 27 - 24 * y;
    svg.append("path").attr("class", "curve").style("stroke", "var(--induction)").attr("stroke-width", 1.5)
      .attr("d", line().x(([x]) => x).y(([, y]) => up(y))(points));
    for (const [x, y] of points)
      svg.append("circle").attr("cx", x).attr("cy", up(y)).attr("r", 2).style("fill", "var(--induction)");
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.moment.checkpoint === this.attention.steps.length - 1) this.moment.goTo(0);
    this.play.textContent = "❚❚ Pause";
    this.timer = setInterval(() => {
      if (this.moment.checkpoint === this.attention.steps.length - 1) return this.stop();
      this.moment.goTo(this.moment.checkpoint + 1);
    }, FRAME);
  }
  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "▶ Play";
  }

  addTokens() {
    this.tiles = this.signs.map((sign, position) =>
      element("button", { type: "button", class: "token", tabindex: -1,
                          onpointerenter: () => this.ask(position), onfocus: () => this.ask(position),
                          onclick: () => this.ask(position) }, sign));
    fill(this.tokens, ...this.tiles);
    this.tokens.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.ask(Math.max(0, Math.min(this.signs.length - 1, this.query + step)));
      this.tiles[this.query].focus();
    };
  }

  addSmallMaps() {
    const { layers, heads } = this.run.about;
    this.small.style.setProperty("--heads", heads);
    this.buttons = [];
    for (let layer = 0; layer < layers; ++layer)
      for (let head = 0; head < heads; ++head) {
        const canvas = element("canvas", { "aria-hidden": "true" });
        const score = element("span", { class: "score" });
        const button = element("button", { type: "button", role: "radio", class: "small-map",
          style: `--colour: ${headColour(this.run, layer, head)}`, onclick: () => this.choose(layer, head) },
          canvas, element("span", { class: "name" }, `${layer}.${head}`), score);
        this.buttons.push({ layer, head, canvas, score, button });
        this.small.append(button);
      }
    this.small.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
      if (!step) return;
      event.preventDefault();
      const to = this.layer * heads + this.head + step;
      if (to < 0 || to >= this.buttons.length) return;
      this.choose(this.buttons[to].layer, this.buttons[to].head);
      this.buttons[to].button.focus();
    });
  }

  largeMap() {
    return {
      rows: this.signs, columns: this.signs, rowName: "query", columnName: "key",
      value: (query, key) => (key <= query ? this.map()(query, key) : null),
      colour: (weight) => this.ramp.css(weight),
      describe: () => this.describe(),
      onpoint: (query, key) => this.ask(query, key),
    };
  }

  choose(layer, head) {
    this.layer = layer;
    this.head = head;
    this.update();
  }
  ask(query, key = null) {
    this.query = query;
    this.key = key;
    this.showQuery();
    if (key === null && this.heat.cursor) {
      this.heat.cursor = null;
      this.heat.paint();
    }
  }

  draw(width) {
    this.ramp = shareRamp();
    const { heads } = this.run.about;
    const large = width >= BESIDE ? Math.floor(0.62 * width) : width;
    this.heat.draw(large, { most: 13 });
    const room = width >= BESIDE ? width - large - 28 : width;
    const size = Math.max(SMALL.least, Math.min(SMALL.most, Math.floor(room / heads) - SMALL.frame));
    // Whole pixels a cell where there are so many.
    this.smallSize = size >= this.signs.length ? size - (size % this.signs.length) : size;
    this.drawTrack();
    this.update();
  }

  /** Everything that depends on checkpoint, head and sequence. */
  update() {
    const { checkpoint } = this.moment;
    this.slider.value = checkpoint;
    this.stepName.textContent = `step ${grouped(this.attention.steps[checkpoint])}`;
    this.slider.setAttribute("aria-valuetext", this.stepName.textContent);
    if (!this.ramp) return;
    this.heat.spec.marks = this.marksTargets
      ? this.signs.flatMap((_, query) => this.targetsOf(query).map((target) => [query, target])) : [];
    this.heat.paint();
    for (const { layer, head, canvas, score, button } of this.buttons) {
      const chosen = layer === this.layer && head === this.head;
      button.setAttribute("aria-checked", chosen);
      button.tabIndex = chosen ? 0 : -1;
      const best = this.bestScore(layer, head);
      score.textContent = best;
      button.setAttribute("aria-label", `head ${layer}.${head}, ${best}`);
      this.paintSmall(canvas, this.map(layer, head));
    }
    fill(this.heading, element("strong", { style: `color: ${headColour(this.run, this.layer, this.head)}` },
      `Layer ${this.layer} head ${this.head}`), ` at step ${grouped(this.attention.steps[checkpoint])}`);
    this.showQuery();
  }

  paintSmall(canvas, weight) {
    const count = this.signs.length;
    const image = new ImageData(count, count);
    for (let query = 0; query < count; ++query)
      for (let key = 0; key <= query; ++key) {
        const at = 4 * (query * count + key);
        image.data.set(this.ramp.rgb(weight(query, key)), at);
        image.data[at + 3] = 255;
      }
    canvas.width = canvas.height = count;
    canvas.style.width = canvas.style.height = `${this.smallSize}px`;
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** The head's highest score at the evaluation nearest to the checkpoint, in words. */
  bestScore(layer, head) {
    const table = this.run.table("heads");
    if (!table) return "";
    this.rowsOfHead ??= new Map();
    const name = `${layer}.${head}`;
    if (!this.rowsOfHead.has(name))
      this.rowsOfHead.set(name, table.rows.filter((row) => row.layer === String(layer) && row.head === String(head)));
    const step = this.attention.steps[this.moment.checkpoint];
    const row = this.rowsOfHead.get(name).find((there) => Number(there.step) === step);
    if (!row) return "";
    const names = this.run.scores.map((score) => score.name)
      .filter((score) => score !== "copying" && score !== "prefix_matching" && table.has(score));
    const best = names.reduce((a, b) => (table.number(row, b) > table.number(row, a) ? b : a));
    return `${words(best)} ${fixed(table.number(row, best), 2)}`;
  }

  keysOf(query) {
    const weight = this.map();
    return Array.from({ length: query + 1 }, (_, key) => [key, weight(query, key)]).sort((a, b) => b[1] - a[1]);
  }

  showQuery() {
    const weight = this.map();
    const targets = this.targetsOf(this.query);
    this.tiles.forEach((tile, position) => {
      const seen = position <= this.query;
      const share = seen ? weight(this.query, position) : 0;
      tile.style.background = seen && this.ramp ? this.ramp.css(share) : "";
      tile.classList.toggle("dark", share > 0.5);
      tile.classList.toggle("later", !seen);
      tile.classList.toggle("query", position === this.query);
      tile.classList.toggle("target", targets.includes(position));
      tile.tabIndex = position === this.query ? 0 : -1;
      tile.setAttribute("aria-label", `${place(position, this.signs)}${seen ? `, weight ${fixed(share, 3)}` : ""}`);
    });
    const strongest = this.keysOf(this.query).slice(0, LISTED)
      .map(([key, share]) => `${place(key, this.signs)} ${fixed(share, 3)}`).join(", ");
    const parts = [element("strong", {}, place(this.query, this.signs)), ` looks at ${strongest}. `];
    if (targets.length > 0)
      parts.push(`On its induction target${targets.length > 1 ? "s" : ""}, ` +
                 `${list(targets.map((target) => place(target, this.signs)))}: ` +
                 `${fixed(targets.reduce((sum, target) => sum + weight(this.query, target), 0), 3)}. `);
    if (this.key !== null && this.key !== undefined && this.key <= this.query)
      parts.push(`Pointed at: ${place(this.key, this.signs)} ${fixed(weight(this.query, this.key), 3)}.`);
    fill(this.readout, ...parts);
  }

  describe() {
    const { checkpoint } = this.moment;
    const weight = this.map();
    let diagonal = 0;
    for (let query = 1; query < this.signs.length; ++query) diagonal += weight(query, query - 1);
    const queries = this.signs.map((_, query) => this.targetsOf(query)).flatMap((targets, query) =>
      (targets.length > 0 ? [targets.reduce((sum, target) => sum + weight(query, target), 0)] : []));
    const mean = queries.reduce((sum, x) => sum + x, 0) / queries.length;
    return `Attention map of layer ${this.layer} head ${this.head} at step ${this.attention.steps[checkpoint]}: mean weight ` +
           `on the previous token ${fixed(diagonal / Math.max(1, this.signs.length - 1), 2)}` +
           (queries.length > 0 ? `, on the induction target ${fixed(mean, 2)}` : "") + ". Arrow keys move from cell to cell.";
  }
}
