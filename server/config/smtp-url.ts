import type { Reading } from '../names/read-name.ts';

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
