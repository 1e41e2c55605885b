// The moment of the training that is looked at: a checkpoint, and for as long as somebody points at the curves a
// step.

import { bisectCenter } from "d3-array";

export class Moment {
  constructor(steps) {
    this.steps = steps;
    this.checkpoint = steps.length - 1;
    this.pointed = null;
    this.listeners = [];
  }
  /** Calls `listener` now and after every change. */
  subscribe(listener) {
    this.listeners.push(listener);
    listener();
  }
  get step() {
    return this.pointed ?? this.steps[this.checkpoint];
  }
  goTo(checkpoint) {
    this.checkpoint = Math.max(0, Math.min(this.steps.length - 1, checkpoint));
    this.changed();
  }
  goToStep(step) {
    this.goTo(bisectCenter(this.steps, step));
  }
  /** A step of the curves, or null when nobody points any more. */
  point(step) {
    if (this.pointed === step) return;
    this.pointed = step;
    this.changed();
  }
  changed() {
    for (const listener of this.listeners) listener();
  }
}
