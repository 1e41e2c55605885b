// When the heads formed, and the bump, in words that go with what is drawn.

import { fixed } from "./words.js";

const stretch = ({ start, end }) =>
  end === null ? `from step ${start}, not ended yet` : `steps ${start} to ${end}`;

/** A sentence each; none where learning to copy has no beginning and no end. */
export function formationInWords(formation, lastStep) {
  if (!formation) return [];
  const { bump, hump } = formation;
  const sentences = [windowInWords(formation, lastStep)];
  if (bump)
    sentences.push(
      `Broad grey: the bump, where the loss on all positions bends downward, ${stretch(bump)}, ` +
        `${fixed(bump.height, 2)} nats at step ${bump.top}.`,
    );
  if (hump)
    sentences.push(
      `Thin line: the level before the hump on noise, which rises by ${fixed(hump.height, 2)} nats to ` +
        `step ${hump.top}, ${stretch(hump)}.`,
    );
  return sentences;
}

function windowInWords({ onset, half, done }, lastStep) {
  if (onset === null) return `Nothing is shaded: the accuracy has not passed 10 % by step ${lastStep}.`;
  const rise = `Shaded: the accuracy rises from 10 % (step ${onset})`;
  const until = done === null ? `and has not passed 90 % by step ${lastStep}` : `to 90 % (step ${done})`;
  return `${rise} ${until}${half === null ? "." : `; it passes 50 % at step ${half}.`}`;
}
