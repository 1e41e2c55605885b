// Colours. They stand in page.css, for light and for dark; the palette is that of the figures (Okabe and Ito 2008),
// and a head has the same colour in every picture.

import { interpolateRgb, piecewise } from "d3-interpolate";

const COLOURS = 6;
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "14 3", "6 2 1.5 2 1.5 2"];

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

/** Relative luminance (WCAG 2.1) of three numbers up to 255. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
/** A colour of CSS, in hexadecimal digits or as rgb(), as three numbers. */
const numbers = (colour) => interpolateRgb(colour, colour)(0).match(/\d+/g).map(Number);

/** Which text is easier to read on a colour; the better of the two has a contrast of at least 4.58 to any. */
const inkOn = (rgb) => (contrast(luminance(rgb), 1) > contrast(luminance(rgb), 0) ? "white" : "black");

/**
 * The colours of a CSS property from end to end: css(share), rgb(share), the same as three numbers, and ink(share),
 * the colour of text on it.
 */
function ramp(property) {
  const style = getComputedStyle(document.documentElement);
  const between = piecewise(
    interpolateRgb,
    style
      .getPropertyValue(property)
      .split(",")
      .map((colour) => colour.trim()),
  );
  const css = Array.from({ length: SHADES }, (_, i) => between(i / (SHADES - 1)));
  const shades = css.map(numbers);
  const inks = shades.map(inkOn);
  const place = (share) => Math.round(Math.max(0, Math.min(1, share)) * (SHADES - 1));
  return {
    css: (share) => css[place(share)],
    rgb: (share) => shades[place(share)],
    ink: (share) => inks[place(share)],
  };
}
/** From nothing to all, of a share between 0 and 1. */
export const shareRamp = () => ramp("--heat");
/** Of a value between -1 and 1. */
export function signedRamp() {
  const { css, ink } = ramp("--heat-signed");
  const share = (value) => 0.5 + 0.5 * value;
  return { css: (value) => css(share(value)), ink: (value) => ink(share(value)) };
}
