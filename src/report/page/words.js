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
const MOST_DECIMALS = 6;
/** A change, with its sign, to so many decimals, and to more where less than two of its digits would count. */
export function change(value, digits = 3) {
  if (value === 0) return "0";
  const needed = 1 - Math.floor(Math.log10(Math.abs(value)));
  if (needed <= MOST_DECIMALS) return signed(value, Math.max(digits, needed));
  return Number.isFinite(value)
    ? (value > 0 ? "+" : "") + value.toExponential(1).replaceAll("-", MINUS)
    : fixed(value);
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
/** "a, b and 7 more, in the table circuits" */
export function firstOf(items, most, table) {
  const first = items.slice(0, most).join(", ");
  return items.length <= most
    ? first
    : `${first} and ${grouped(items.length - most)} more, in the table ${table}`;
}
/** "position 7 (k)" */
export function place(position, signs) {
  return `position ${position} (${signs[position]})`;
}
