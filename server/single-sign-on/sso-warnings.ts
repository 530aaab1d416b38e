import type { Deps } from '../deps/deps.ts';
import { listSsoConnections } from '../storage/sso-connection.ts';
import { networkWarnings } from './network-warnings.ts';
import { metadataWarnings } from './saml/watch-metadata.ts';
import { listEnds, warningsOf } from './what-ends.ts';

/** Everything about single sign-on that needs the operator's attention, in words. */
export async function ssoWarnings({ sql, now }: Pick<Deps, 'sql' | 'now'>): Promise<string[]> {
  const connections = await listSsoConnections(sql);
  return [
    ...warningsOf(await listEnds(sql), now()),
    ...(await networkWarnings(connections)),
    ...(await metadataWarnings(sql)),
  ];
}
