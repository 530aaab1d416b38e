import type { Reading } from '../names/read-name.ts';
import { databaseAddresses } from './database-addresses.ts';

/** Reads DATABASE_URL. A problem never quotes the value, since it may contain a password. */
export function readDatabaseUrl(text: string): Reading {
  const no = (problem: string): Reading => ({ kind: 'refused', problem: `DATABASE_URL: ${problem}` });
  const first = URL.parse(databaseAddresses(text)?.[0] ?? '');
  if (!first)
    return no('must be an address such as postgres://user:password@host:5432/name, or with host:5432,host:5432');
  const settings = new URLSearchParams(text.split('?')[1]);
  if (!['read-write', 'primary', null].includes(settings.get('target_session_attrs')))
    return no('target_session_attrs must be read-write: the portal writes');
  if (!['system', null].includes(settings.get('sslrootcert')))
    return no('sslrootcert is not read: put your own CA into NODE_EXTRA_CA_CERTS');
  return { kind: 'ok', value: text };
}
