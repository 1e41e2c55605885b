// Numbers and names in words.

const MINUS = "\u2212";

/** To so many decimals, with a real minus sign; a dash where there is none. */
export function fixed(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? MINUS + text : text;
}
/** The same with its sign. */
export function signed(value, digits = 3) {
  return (value > 0 && Number(value.toFixed(digits)) !== 0 ? "+" : "") + fixed(value, digits);
}
/** Three digits that count. */
export function short(value) {
  if (!Number.isFinite(value)) return "–";
  const text =
    Math.abs(value) >= 1000
      ? Math.round(Math.abs(value)).toString()
      : Number(Math.abs(value).toPrecision(3)).toString();
  return value < 0 ? MINUS + text : text;
}
/** 1536000 as "1,536,000". */
export function grouped(value) {
  return Math.round(value).toLocaleString("en-US");
}
/** "1 step", "2 steps" */
export function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
export function percent(share, digits = 1) {
  return Number.isFinite(share) ? `${fixed(100 * share, digits)} %` : "–";
}
/** A name of a table in words: previous_token as "previous token". */
export function words(name) {
  return name.replaceAll("_", " ");
}
/** "a, b and c" */
export function list(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
/** "position 7 (k)" */
export function place(position, signs) {
  return `position ${position} (${signs[position]})`;
}
