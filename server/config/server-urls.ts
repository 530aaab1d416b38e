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

/** A mail server that accepts our emails. */
export type SmtpServer = {
  host: string;
  port: number;
  /** From the first byte, by STARTTLS before anything else, or not at all. */
  tls: 'implicit' | 'starttls' | 'off';
  /** Both are null if the server requires no login. */
  user: string | null;
  password: string | null;
};

const host = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/i;

/** Reads SMTP_URL. A problem never quotes the value, since it may contain a password. */
export function readSmtpUrl(text: string): Reading<SmtpServer> {
  const no = (problem: string): Reading<SmtpServer> => ({ kind: 'refused', problem: `SMTP_URL: ${problem}` });
  const url = URL.parse(text);
  const implicit = url?.protocol === 'smtps:';
  if (!url || !(implicit || url.protocol === 'smtp:') || url.port === '0')
    return no('must be an address such as smtps://user:password@host:465 or smtp://user:password@host:587');
  if (!host.test(url.hostname)) return no('has no host of letters, digits and dashes');
  if (!['', '/'].includes(url.pathname) || url.hash)
    return no('must end after the host; in user and password write / as %2F, ? as %3F, # as %23, @ as %40');
  const plain = url.search === '?starttls=off';
  if (url.search !== '' && (implicit || !plain)) return no('may have no parameter except starttls=off with smtp://');
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === null || password === null) return no('has a user or password that is not percent-encoded text');
  if ((user === '') !== (password === '')) return no('must name a user and a password, or neither');
  return {
    kind: 'ok',
    value: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (implicit ? 465 : 587),
      tls: implicit ? 'implicit' : plain ? 'off' : 'starttls',
      user: user || null,
      password: password || null,
    },
  };
}

function decoded(text: string): string | null {
  try {
    const plain = decodeURIComponent(text);
    return /\p{Cc}/u.test(plain) ? null : plain;
  } catch {
    return null;
  }
}

/** The server in displayable form: `smtp.example.com:587`, without user and password. */
export function hostAndPort({ host, port }: SmtpServer): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
