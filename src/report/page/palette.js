// Colours. They stand in page.css, for light and for dark; the palette is that of the figures (Okabe and Ito 2008),
// and a head has the same colour in every picture.

import { interpolateRgb, piecewise } from "d3-interpolate";

const COLOURS = 6;
const DASHES = ["none", "6 3", "2 3", "8 3 2 3"];

function number(run, layer, head) {
  return layer * run.about.heads + head;
}
/** Of a head, as a CSS value. */
export function headColour(run, layer, head) {
  return `var(--head-${number(run, layer, head) % COLOURS})`;
}
/** A stroke's dashes that go with it: others each time the colours begin anew. */
export function headDash(run, layer, head) {
  return DASHES[Math.floor(number(run, layer, head) / COLOURS) % DASHES.length];
}

const SHADES = 256;

/** The colours of a CSS property from end to end: css(share) and rgb(share), the same as three numbers. */
function ramp(property) {
  const stops = getComputedStyle(document.documentElement).getPropertyValue(property).trim().split(/\s+/);
  const between = piecewise(interpolateRgb, stops);
  const css = Array.from({ length: SHADES }, (_, i) => between(i / (SHADES - 1)));
  const rgb = css.map((colour) => colour.match(/\d+/g).map(Number));
  const place = (share) => Math.round(Math.max(0, Math.min(1, share)) * (SHADES - 1));
  return { css: (share) => css[place(share)], rgb: (share) => rgb[place(share)] };
}
/** From nothing to all, of a share between 0 and 1. */
export const shareRamp = () => ramp("--heat");
/** Of a value between -1 and 1. */
export function signedRamp() {
  const { css } = ramp("--heat-signed");
  return (value) => css(0.5 + 0.5 * value);
}
