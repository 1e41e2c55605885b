// The colours of a map as a bar, with the values at its ends.

import { element } from "./dom.js";

/** `ramp` is "share" or "signed"; `name` says what the colours are of, `low` and `high` are the ends in words. */
export function colourScale(ramp, name, low, high) {
  const bar = element("span", {
    class: `ramp ${ramp}`,
    role: "img",
    "aria-label": `Colours from ${low} to ${high}`,
  });
  return element(
    "p",
    { class: "colour-scale" },
    `${name} `,
    element("span", { class: "ends" }, low, bar, high),
  );
}
