// The training as a film: a slider over the checkpoints, a button that plays it, and over the slider how far the model
// had come at each.

import { select } from "d3-selection";
import { line } from "d3-shape";
import { element } from "./dom.js";
import { grouped } from "./words.js";

const FRAME = 280; // milliseconds a checkpoint
const THUMB = 8; // pixels, half of the slider's, which its ends leave free
const HEIGHT = 30;

export class Film {
  constructor(parent, run, moment) {
    this.run = run;
    this.moment = moment;
    this.timer = null;
    this.play = element("button", { type: "button", class: "play", onclick: () => this.toggle() }, "▶ Play");
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: moment.steps.length - 1,
      step: 1,
      disabled: moment.steps.length < 2,
      "aria-label": "Checkpoint",
      oninput: () => {
        this.stop();
        moment.goTo(Number(this.slider.value));
      },
    });
    this.step = element("output", { class: "step" });
    this.track = element("div", { class: "track" }, this.slider);
    parent.classList.add("film");
    parent.append(this.play, this.track, this.step);
  }

  get isAtEnd() {
    return this.moment.checkpoint === this.moment.steps.length - 1;
  }

  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    if (this.isAtEnd) this.moment.goTo(0);
    this.play.textContent = "❚❚ Pause";
    this.timer = setInterval(() => {
      this.moment.goTo(this.moment.checkpoint + 1);
      if (this.isAtEnd) this.stop();
    }, FRAME);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "▶ Play";
  }

  /** Shows where the moment is. */
  update() {
    this.slider.value = this.moment.checkpoint;
    this.step.textContent = `step ${grouped(this.moment.steps[this.moment.checkpoint])}`;
    this.slider.setAttribute("aria-valuetext", this.step.textContent);
  }

  /** The accuracy on induction positions at each checkpoint, from 0 to 1, for the width there is. */
  draw() {
    const metrics = this.run.table("metrics");
    const { steps } = this.moment;
    if (!metrics || steps.length < 2) return;
    const accuracy = new Map(
      metrics.rows.map((row) => [Number(row.step), metrics.number(row, "accuracy_induction")]),
    );
    const width = this.track.clientWidth;
    const points = steps
      .map((step, i) => [THUMB + (i * (width - 2 * THUMB)) / (steps.length - 1), accuracy.get(step)])
      .filter(([, y]) => Number.isFinite(y));
    const up = (y) => HEIGHT - 3 - (HEIGHT - 6) * y;
    this.track.querySelector("svg")?.remove();
    const svg = select(this.track)
      .insert("svg", "input")
      .attr("width", width)
      .attr("height", HEIGHT)
      .attr("aria-hidden", "true");
    svg
      .append("path")
      .attr("class", "curve")
      .style("stroke", "var(--induction)")
      .attr("stroke-width", 1.5)
      .attr(
        "d",
        line()
          .x(([x]) => x)
          .y(([, y]) => up(y))(points),
      );
    for (const [x, y] of points)
      svg.append("circle").attr("cx", x).attr("cy", up(y)).attr("r", 2).style("fill", "var(--induction)");
  }
}
