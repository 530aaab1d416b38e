import type { Reading } from '../names/read-name.ts';

/** Reads DATABASE_URL. A problem never quotes the value, since it may contain a password. */
export function readDatabaseUrl(text: string): Reading {
  const no = (problem: string): Reading => ({ kind: 'refused', problem: `DATABASE_URL: ${problem}` });
  const url = URL.parse(text);
  if (!url?.hostname || !/^postgres(?:ql)?:$/.test(url.protocol))
    return no('must be an address such as postgres://user:password@host:5432/name');
  if (url.hostname.includes(','))
    return no('names several servers: put HAProxy or a pooler before them (docs/operating.md)');
  const mode = url.searchParams.get('sslmode');
  if (mode !== null && !['disable', 'require', 'verify-full'].includes(mode))
    return no('sslmode must be disable, require or verify-full');
  const ours = ['ssl', 'options', 'statement_timeout', 'target_session_attrs'].find((name) =>
    url.searchParams.has(name),
  );
  if (ours) return no(`${ours} is not read: leave it out`);
  if (url.searchParams.has('sslrootcert'))
    return no('sslrootcert is not read: put your own CA into NODE_EXTRA_CA_CERTS');
  return { kind: 'ok', value: text };
}
