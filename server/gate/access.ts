import { type HubRule, isAtOrBelow } from '../config/hub.ts';
import { type HubPath, mayBeBelow } from './read-path.ts';

/** Who may reach a path: everybody, or whoever is signed in as a user of one customer of each group. */
export type Access = { kind: 'public' } | { kind: 'signedIn'; oneOfEach: (readonly string[])[] };

/**
 * The access that the rules give to a path. The longest rule counts. If the hub may read the path in a way that other rules
 * are for, all of these count, and none makes it public: each reading of the path, folded, begins with the paths of its
 * rules, which are folded by themselves.
 */
export function accessTo(path: HubPath, rules: readonly HubRule[]): Access {
  const possible = rules.filter((rule) => mayBeBelow(path, rule.path));
  const exact = possible.filter((rule) => isAtOrBelow(path.sent, rule.path));
  const isCertain = path.isPlain && exact.length === possible.length;
  const counting = isCertain ? longest(possible) : possible;
  if (isCertain && counting[0]?.who === 'public') return { kind: 'public' };
  return { kind: 'signedIn', oneOfEach: counting.flatMap(({ who }) => (typeof who === 'string' ? [] : [who])) };
}

/** Whether a user of some customers meets an access that needs a sign-in. */
export function meets(access: Access, customers: readonly string[]): boolean {
  return access.kind === 'public' || access.oneOfEach.every((group) => group.some((key) => customers.includes(key)));
}

function longest(rules: readonly HubRule[]): HubRule[] {
  return rules.toSorted((one, other) => other.path.length - one.path.length).slice(0, 1);
}
