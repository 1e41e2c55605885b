// When the heads formed, and the bump, in words that go with what is drawn.

import { fixed, percent } from "./words.js";

const ONSET = 0.1; // the accuracy at which learning to copy begins

const stretch = ({ start, end }) =>
  end === null ? `from step ${start}, not ended yet` : `steps ${start} to ${end}`;

const guessing = (run) => 1 / run.about.vocabulary;

/** The steps from the onset until copying is learned, or until `last`; null where there are none to be told. */
export function copyingWindow(run, last) {
  const { onset, done } = run.formation ?? {};
  return onset == null || guessing(run) >= ONSET ? null : [onset, done ?? last];
}

/** A sentence each; none where learning to copy has no beginning and no end. */
export function formationInWords(run, lastStep) {
  if (!run.formation) return [];
  const { bump, hump } = run.formation;
  const sentences = [
    guessing(run) < ONSET ? windowInWords(run.formation, lastStep) : guessingInWords(run, lastStep),
  ];
  if (bump)
    sentences.push(
      `Broad grey: the bump, where the loss on all positions bends downward, ${stretch(bump)}, ` +
        `${fixed(bump.height, 2)} nats at step ${bump.top}.`,
    );
  if (hump)
    sentences.push(
      `Thin line: the level before the hump on noise, which rises by ${fixed(hump.height, 2)} nats ` +
        `(medians of three evaluations) to step ${hump.top}, ${stretch(hump)}.`,
    );
  return sentences;
}

function windowInWords({ onset, half, done }, lastStep) {
  if (onset === null) return `Nothing is shaded: the accuracy has not passed 10 % by step ${lastStep}.`;
  const rise = `Shaded: the accuracy rises from 10 % (step ${onset})`;
  const until = done === null ? `and has not passed 90 % by step ${lastStep}` : `to 90 % (step ${done})`;
  return `${rise} ${until}${half === null ? "." : `; it passes 50 % at step ${half}.`}`;
}

/** Where guessing alone is right so often that the rise begins without copying. */
function guessingInWords(run, lastStep) {
  const { done } = run.formation;
  return (
    `Nothing is shaded: guessing among ${run.about.vocabulary} tokens is right ` +
    `${percent(guessing(run), 0)} of the time, so an accuracy of 10 % needs no copying. The accuracy ` +
    (done === null ? `has not passed 90 % by step ${lastStep}.` : `passes 90 % at step ${done}.`)
  );
}
