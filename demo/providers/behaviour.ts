/** How a provider answers: as it should, or with one fault. */
export const behaviours = {
  right: { name: 'As it should', what: 'A correct answer at once.' },
  audience: { name: 'Wrong audience', what: 'The answer is meant for another application.' },
  expired: { name: 'Expired', what: 'The answer was good until an hour ago.' },
  slow: { name: 'Slow', what: 'It takes five seconds to answer.' },
  down: { name: 'Down', what: 'It is out of order.' },
} as const;

export type Behaviour = keyof typeof behaviours;

/** The provider's present behaviour, shared by its pages and the start page, which presets it for a case. */
export type Switch = { current: Behaviour };

export const slowness = 5000;
export const anHourAgo = -3_600_000;

export function isBehaviour(text: string | null | undefined): text is Behaviour {
  return text !== null && text !== undefined && Object.hasOwn(behaviours, text);
}
