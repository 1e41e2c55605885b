// When the heads formed, and the bump, in words that go with what is drawn.

import { fixed } from "./words.js";

const end = (step) => (step === null ? "not ended yet" : `to ${step}`);

/** A sentence each; none where learning to copy has no beginning and no end. */
export function formationInWords(formation, lastStep) {
  if (!formation) return [];
  const { bump, hump } = formation;
  const sentences = [windowInWords(formation, lastStep)];
  if (bump)
    sentences.push(
      `Broad grey: the bump, where the loss on all positions bends downward, steps ${bump.start} ` +
        `${end(bump.end)}, ${fixed(bump.height, 2)} nats at step ${bump.top}.`,
    );
  if (hump)
    sentences.push(
      `Dotted: the level before the hump on noise, which rises by ${fixed(hump.height, 2)} nats to ` +
        `step ${hump.top}, steps ${hump.start} ${end(hump.end)}.`,
    );
  return sentences;
}

function windowInWords({ onset, half, done }, lastStep) {
  if (onset === null) return `The accuracy has not passed 10 % by step ${lastStep}: not formed.`;
  const rise = `Shaded: the accuracy rises from 10 % (step ${onset})`;
  const until = done === null ? `and has not passed 90 % by step ${lastStep}` : `to 90 % (step ${done})`;
  return `${rise} ${until}${half === null ? "." : `; it passes 50 % at step ${half}.`}`;
}
