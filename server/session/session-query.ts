import { queryNames } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { HubAudience } from '../config/hub-audiences.ts';
import { recordable } from '../http/request-url.ts';
import { readShortName } from '../names/read-name.ts';

/** What a proxy asks of `GET session` besides who is signed in. */
export type SessionQuery = {
  /** Keys of customers, one of which must be the user's; null: any. */
  customers: string[] | null;
  /** The hub that gets a token; null: none. */
  audience: HubAudience | null;
};

type Reading = { kind: 'ok'; query: SessionQuery } | { kind: 'refused'; field: string; detail: string };

const known = ['customer', 'audience', queryNames.language];

/**
 * Reads `?customer=` (repeatable, or separated by commas) and `?audience=`. Everything else is refused: with a misspelt
 * rule, everybody who is signed in would pass.
 */
export function readSessionQuery(config: Config, query: string): Reading {
  const given = new URLSearchParams(query);
  for (const name of given.keys())
    if (!known.includes(name)) return { kind: 'refused', field: recordable(name), detail: 'no such parameter' };
  const customers = given.has('customer') ? given.getAll('customer').flatMap((text) => text.split(',')) : null;
  if (customers?.some((key) => readShortName(key).kind !== 'ok'))
    return { kind: 'refused', field: 'customer', detail: 'customer: must be keys of customers' };
  const [name, ...more] = given.getAll('audience');
  const audience = config.hubAudiences.find((hub) => hub.name === name) ?? null;
  if ((name !== undefined && audience === null) || more.length > 0)
    return { kind: 'refused', field: 'audience', detail: 'audience: must be one of hub.audiences' };
  return { kind: 'ok', query: { customers, audience } };
}
