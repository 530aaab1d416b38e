import { X509Certificate } from 'node:crypto';
import type { Connection } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { day } from '../limits.ts';
import { listPortalKeys } from './portal-keys.ts';
import { expiryWarning } from './saml/provider-metadata.ts';
import { metadataWarnings } from './saml/watch-metadata.ts';
import { listSsoConnections, type SsoConnection } from './sso-connection.ts';
import { listRequiredDomains } from './with-agreement.ts';

/** Everything about single sign-on that needs the operator's attention, in words. */
export async function ssoWarnings({ sql, now }: Pick<Deps, 'sql' | 'now'>): Promise<string[]> {
  const soon = now().getTime() + expiryWarning;
  const ends = (await listEnds(sql)).filter(({ endsAt }) => endsAt.getTime() <= soon);
  const expiring = ends.map((end) => wordsOf(end, now()));
  return [...expiring, ...(await lockedDomains(sql)), ...(await metadataWarnings(sql))];
}

/** Domains whose people have no way in: single sign-on is required there, and no connection is active. */
async function lockedDomains(sql: Connection): Promise<string[]> {
  const locked = [...(await listRequiredDomains(sql))].filter(([, isUsable]) => !isUsable).map(([domain]) => domain);
  const remedy =
    'single sign-on is required there but disabled – vestibule connection set <key> --enable, or --required off';
  return locked.length === 0 ? [] : [`nobody in ${locked.join(', ')} can sign in: ${remedy}`];
}

/** Something single sign-on needs that expires. `connection` is a key, or null for the portal's own. */
export type End = { connection: string | null; what: 'certificate' | 'client secret' | 'portal key'; endsAt: Date };

/** Everything with a known expiry, soonest first. Disabled connections are left out. */
export async function listEnds(sql: Connection): Promise<End[]> {
  const connections = (await listSsoConnections(sql)).filter(({ active }) => active);
  const keys = (await listPortalKeys(sql)).filter(({ stage }) => stage === 'current');
  const ends = [
    ...connections.flatMap(endsOf),
    ...keys.map(({ endsAt }): End => ({ connection: null, what: 'portal key', endsAt })),
  ];
  return ends.sort((one, other) => one.endsAt.getTime() - other.endsAt.getTime());
}

/** What of a connection expires. A provider that has published its next certificate works as long as one of them is valid. */
export function endsOf(connection: SsoConnection): (End & { what: 'certificate' | 'client secret' })[] {
  const { key, secretEndsAt } = connection;
  const secret = secretEndsAt ? [{ connection: key, what: 'client secret' as const, endsAt: secretEndsAt }] : [];
  if (connection.protocol === 'oidc') return secret;
  const times = connection.settings.certificates.map((pem) => new X509Certificate(pem).validToDate.getTime());
  return [{ connection: key, what: 'certificate', endsAt: new Date(Math.max(...times)) }];
}

function wordsOf({ connection, what, endsAt }: End, now: Date): string {
  const days = Math.floor((endsAt.getTime() - now.getTime()) / day);
  const on = `on ${endsAt.toISOString().slice(0, 10)}`;
  const when = days < 0 ? `expired ${on}` : `expires in ${days} day${days === 1 ? '' : 's'}, ${on}`;
  const whose = connection === null ? `the ${what}` : `the ${what} of connection ${connection}`;
  return `${whose} ${when} – ${advice[what](connection ?? '')}`;
}

const advice: Record<End['what'], (connection: string) => string> = {
  certificate: (connection) => `vestibule connection set ${connection} --metadata <file-or-url> reads the new one`,
  'client secret': (connection) => `vestibule connection set ${connection} --client-secret-stdin --secret-ends <date>`,
  'portal key': () => 'vestibule connection keys --add publishes the next one',
};
