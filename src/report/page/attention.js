// The attention viewer: the sequence's tokens to point at, one map to read, all heads as small maps beside it, and the
// training as a film.

import { element, fill } from "./dom.js";
import { choice, tick } from "./choice.js";
import { colourScale } from "./colour_scale.js";
import { figure } from "./figure.js";
import { Film } from "./film.js";
import { HeatMap } from "./heat_map.js";
import { headColour, shareRamp } from "./palette.js";
import { NAMED_ABOVE, SmallMaps } from "./small_maps.js";
import { fixed, grouped, list, place } from "./words.js";

const LISTED = 3; // keys that are named, the strongest first
const BESIDE = 760; // pixels from which small maps stand beside the large one
const LARGE = 0.62; // of the width, for the large one
const GAP = 28; // between them, in pixels
const CELL = 13; // at most

export function showAttention(content, run, moment) {
  if (run.attention) new Viewer(content, run, moment);
  else
    content.append(
      element(
        "p",
        { class: "missing" },
        run.about.layers === 0
          ? "This model has no heads."
          : "There are no maps here: see what the program said when it wrote this page.",
      ),
    );
}

class Viewer {
  constructor(content, run, moment) {
    Object.assign(this, {
      run,
      moment,
      attention: run.attention,
      sequence: 0,
      layer: run.about.layers - 1,
      head: 0,
      key: null,
      ringsTargets: true,
    });
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
  /** The induction targets of a query: after its token's earlier copies, the nearest first. */
  targetsOf(query) {
    return this.attention.sequences[this.sequence].targets[query];
  }
  /** The last query whose target can be copied, or the last. */
  lastTarget() {
    const last = this.signs.findLastIndex((_, query) => this.targetsOf(query).length > 0);
    return last >= 0 ? last : this.signs.length - 1;
  }
  weights(layer = this.layer, head = this.head) {
    return this.attention.map(this.moment.checkpoint, this.sequence, layer, head);
  }
  onTargets(query) {
    const weight = this.weights();
    return this.targetsOf(query).reduce((sum, target) => sum + weight(query, target), 0);
  }

  caption() {
    const { checkpoints, steps, positions, ofPositions } = this.run.attention;
    const shown =
      (positions < ofPositions ? `The first ${positions} of ${ofPositions} positions are shown. ` : "") +
      (steps.length < checkpoints
        ? `${steps.length} of the run's ${checkpoints} checkpoints are shown. `
        : "");
    return [
      `${shown}Rows are queries, columns the keys they look at; ringed: induction targets, after earlier copies of ` +
        "the query's token. Over the slider: the accuracy on induction positions at each checkpoint. Small maps: every " +
        `head, with its highest score at that step if that is at least ${NAMED_ABOVE} above an even head's.`,
    ];
  }

  build() {
    const { body, controls, legend } = this.figure;
    this.film = new Film(controls, this.run, this.moment);
    const more = element("div", { class: "controls" });
    legend.replaceWith(more);
    this.addChoices(more);
    this.readout = element("p", { class: "readout", "aria-live": "polite" });
    this.tokens = element("div", {
      class: "tokens",
      role: "group",
      "aria-label": "Tokens of the sequence",
      onkeydown: (event) => this.move(event),
    });
    this.heading = element("p", { class: "map-title" });
    const large = element("div", {}, this.heading);
    const maps = element("div", { class: "maps" }, large);
    this.small = new SmallMaps(maps, this.run, (layer, head) => {
      Object.assign(this, { layer, head });
      this.update();
    });
    this.command = element("code", {});
    this.figure.caption.append(element("br"), this.command);
    fill(body, this.tokens, this.readout, maps);
    this.heat = new HeatMap(large, this.largeMap());
    large.append(colourScale("share", "weight", "0", "1"));
    this.addTokens();
  }

  addChoices(parent) {
    const { sequences } = this.attention;
    if (sequences.length > 1)
      choice(parent, {
        label: "Sequence",
        value: 0,
        options: sequences.map((_, i) => [i, String(i)]),
        onchange: (sequence) => this.show(sequence),
      });
    if (sequences.some(({ targets }) => targets.some((ofQuery) => ofQuery.length > 0)))
      tick(parent, {
        label: "ring induction targets",
        checked: true,
        onchange: (checked) => {
          this.ringsTargets = checked;
          this.update();
        },
      });
  }

  show(sequence) {
    this.sequence = sequence;
    this.query = this.lastTarget();
    this.key = null;
    this.addTokens();
    this.heat.spec = this.largeMap();
    this.heat.cursor = null;
    this.figure.redraw();
  }

  addTokens() {
    this.tiles = this.signs.map((sign, position) =>
      element(
        "button",
        {
          type: "button",
          class: "token",
          tabindex: -1,
          onpointerenter: () => this.ask(position),
          onfocus: () => this.ask(position),
          onclick: () => this.ask(position),
        },
        sign,
      ),
    );
    fill(this.tokens, ...this.tiles);
  }

  /** Arrow keys go from token to token. */
  move(event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.ask(Math.max(0, Math.min(this.signs.length - 1, this.query + step)));
    this.tiles[this.query].focus();
  }

  largeMap() {
    return {
      rows: this.signs,
      columns: this.signs,
      rowName: "query",
      columnName: "key",
      value: (query, key) => (key <= query ? this.weights()(query, key) : null),
      colour: (weight) => this.ramp.css(weight),
      describe: () => this.describe(),
      onpoint: (query, key) => this.ask(query, key),
      start: () => [this.query, 0],
    };
  }

  /** What does this query look at, and what of that falls on this key? */
  ask(query, key = null) {
    Object.assign(this, { query, key });
    if (key === null && this.heat.cursor) {
      this.heat.cursor = null;
      this.heat.paint();
    }
    this.showQuery();
  }

  draw(width) {
    this.ramp = shareRamp();
    const beside = Math.floor((1 - LARGE) * width) - GAP;
    const isBeside = width >= BESIDE && this.small.fitsIn(beside);
    this.heat.draw(isBeside ? width - beside - GAP : width, { most: CELL });
    this.small.fit(isBeside ? beside : width, this.signs.length);
    this.film.draw();
    this.update();
  }

  /** Everything that depends on checkpoint, head and sequence. */
  update() {
    this.film.update();
    if (!this.ramp) return;
    const step = this.attention.steps[this.moment.checkpoint];
    this.heat.spec.marks = this.ringsTargets
      ? this.signs.flatMap((_, query) => this.targetsOf(query).map((target) => [query, target]))
      : [];
    this.heat.paint();
    this.small.paint({
      layer: this.layer,
      head: this.head,
      step,
      positions: this.signs.length,
      weightsOf: (layer, head) => this.weights(layer, head),
      rgb: this.ramp.rgb,
    });
    const name = element(
      "strong",
      { class: "head-name", style: `--colour: ${headColour(this.run, this.layer, this.head)}` },
      `Layer ${this.layer} head ${this.head}`,
    );
    fill(this.heading, name, ` at step ${grouped(step)}`);
    this.command.textContent =
      `tapehead attention ${this.run.about.path} --sequence ${this.sequence} ` +
      `--head ${this.layer}.${this.head} --step ${step}`;
    this.showQuery();
  }

  showQuery() {
    if (!this.ramp) return;
    const weight = this.weights();
    const targets = this.targetsOf(this.query);
    this.tiles.forEach((tile, position) => {
      const isSeen = position <= this.query;
      const share = isSeen ? weight(this.query, position) : 0;
      tile.style.background = isSeen ? this.ramp.css(share) : "";
      tile.style.color = isSeen ? this.ramp.ink(share) : "";
      tile.classList.toggle("later", !isSeen);
      tile.classList.toggle("query", position === this.query);
      tile.classList.toggle("target", targets.includes(position));
      tile.tabIndex = position === this.query ? 0 : -1;
      tile.setAttribute(
        "aria-label",
        place(position, this.signs) + (isSeen ? `, weight ${fixed(share)}` : ""),
      );
    });
    fill(this.readout, element("strong", {}, place(this.query, this.signs)), this.inWords(weight, targets));
  }

  inWords(weight, targets) {
    const named = (position) => place(position, this.signs);
    const strongest = Array.from({ length: this.query + 1 }, (_, key) => [key, weight(this.query, key)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, LISTED)
      .map(([key, share]) => `${named(key)} ${fixed(share)}`);
    let text = ` looks at ${strongest.join(", ")}.`;
    if (targets.length > 0)
      text +=
        ` On its induction target${targets.length > 1 ? "s" : ""}, ${list(targets.map(named))}: ` +
        `${fixed(this.onTargets(this.query))}.`;
    if (this.key !== null) text += ` Pointed at: ${named(this.key)} ${fixed(weight(this.query, this.key))}.`;
    return text;
  }

  describe() {
    const weight = this.weights();
    const queries = this.signs.map((_, query) => query);
    const mean = (values) => fixed(values.reduce((sum, x) => sum + x, 0) / values.length, 2);
    const copying = queries.filter((query) => this.targetsOf(query).length > 0);
    const parts = [
      `Attention map of layer ${this.layer} head ${this.head} at step ` +
        `${this.attention.steps[this.moment.checkpoint]}`,
    ];
    if (queries.length > 1)
      parts.push(
        `mean weight on the previous token ${mean(queries.slice(1).map((query) => weight(query, query - 1)))}`,
      );
    if (copying.length > 0)
      parts.push(`on induction targets ${mean(copying.map((query) => this.onTargets(query)))}`);
    return `${parts.join(", ")}. Arrow keys move from cell to cell.`;
  }
}
