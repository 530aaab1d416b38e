import { isIP } from 'node:net';
import type { NodemailerError } from 'nodemailer';
import { hostAndPort, type SmtpServer } from '../config/server-urls.ts';
import { MailNotSent, type MailTransport } from '../deps.ts';
import { second } from '../limits.ts';
import { mailMessage, type Sender } from './message.ts';

/** How long a mail server may take to connect and greet, TLS included; to answer; to accept an email; and to sit idle. */
const mailServer = {
  reach: 10 * second,
  answer: 20 * second,
  takeMail: 30 * second,
  idle: 10 * second,
} as const;

/** Not configurable. `ca` is for tests: certificates are checked against the system's CAs and NODE_EXTRA_CA_CERTS. */
export type SmtpSettings = { ca?: string; times?: Record<keyof typeof mailServer, number> };

/** nodemailer's options: encrypted as SMTP_URL says or not at all, certificates verified, a timeout for each wait. */
export function smtpOptions(
  { host, port, tls, user, password }: SmtpServer,
  publicHost: string,
  { ca, times = mailServer }: SmtpSettings,
) {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { minVersion: 'TLSv1.2' as const, rejectUnauthorized: true, ...(ca && { ca }) },
    name: nameInGreeting(publicHost),
    // Everything before the login: name lookup, connection, greeting, TLS.
    connectionTimeout: times.reach,
    socketTimeout: times.answer,
    maxResponseSize: 64 * 1024,
    // A configured login is never skipped, or a server could get emails without it.
    ...(user !== null && password !== null && { auth: { user, pass: password }, forceAuth: true }),
  };
}

/** RFC 5321 §4.1.3 requires addresses in brackets; a URL has them only around IPv6. */
function nameInGreeting(publicHost: string): string {
  if (isIP(publicHost)) return `[${publicHost}]`;
  return publicHost.replace(/^\[/, '[IPv6:');
}

/** How many emails one instance sends at once. */
export const mailsAtOnce = 5;

/** Hands emails to a mail server, over connections that are kept for a while, one for each at once. */
export function smtpTransport(server: SmtpServer, sender: Sender, settings: SmtpSettings = {}): MailTransport {
  const { times = mailServer } = settings;
  let pool: ReturnType<typeof openPool> | null = null;
  return {
    async send(mail, words) {
      const signal = AbortSignal.timeout(times.takeMail);
      pool ??= openPool(server, sender, settings);
      await (await pool).sendMail({ ...mailMessage(mail, words, sender), signal }).catch((error: NodemailerError) => {
        throw mailNotSent(error, server);
      });
    },
    close: () => void pool?.then(({ close }) => close()),
  };
}

async function openPool(server: SmtpServer, sender: Sender, settings: SmtpSettings) {
  const { createTransport } = await import('nodemailer');
  const { times = mailServer } = settings;
  return createTransport({
    ...smtpOptions(server, sender.host, settings),
    pool: true,
    maxConnections: mailsAtOnce,
    idleTimeout: times.idle,
    // A kept connection that was dropped is replaced once.
    maxRequeues: 1,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The stage at which a conversation with a mail server failed. */
type SmtpStep = 'connection' | 'TLS' | 'login' | 'mail';

/** Failures of the conversation; any other error from nodemailer is a bug of ours. */
const codes = new Set([
  ...['EDNS', 'ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'ETLS', 'EPROTOCOL', 'EAUTH'],
  ...['EENVELOPE', 'EMESSAGE', 'EABORT'],
]);

/**
 * What a failed attempt means for the queue, in words for the operator. A server that stopped answering may have delivered the
 * email: the try counts, so that its reader does not get a copy every minute of the day. Rethrows other errors.
 */
function mailNotSent(error: NodemailerError, server: SmtpServer): MailNotSent {
  if (!codes.has(error.code ?? '')) throw error;
  const why = stoppedAnswering(error) || stepOf(error) === 'mail' ? 'refused' : 'away';
  return new MailNotSent(why, smtpFailure(error, server));
}

function stoppedAnswering({ code, timeoutType }: NodemailerError): boolean {
  return timeoutType === 'SOCKET_TIMEOUT' || code === 'EABORT';
}

export function stepOf(error: NodemailerError): SmtpStep {
  const { code, command = '', originalCode = '', timeoutType } = error;
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return 'mail';
  if (code === 'EAUTH') return 'login';
  if (code === 'ETLS' || command === 'STARTTLS' || timeoutType === 'UPGRADE_TIMEOUT') return 'TLS';
  // Certificate and handshake errors come from OpenSSL, whose codes are longer than the system's; where nothing listens there is
  // no TLS to fail.
  if (code === 'ESOCKET' && !/^E(?!PROTO)[A-Z]+$/.test(originalCode)) return 'TLS';
  return 'connection';
}

/** A failed conversation in one line: no credentials, nothing from the email, the answer escaped and truncated. */
export function smtpFailure(error: NodemailerError, server: SmtpServer): string {
  const { response, originalCode } = error;
  const detail = response ? `: ${serverWords(response, server)}` : originalCode ? ` (${originalCode})` : '';
  return `${hostAndPort(server)} ${whatHappened(error)}${detail}`;
}

function whatHappened(error: NodemailerError): string {
  const { code, command = '', originalCode = '', timeoutType, syscall } = error;
  switch (stepOf(error)) {
    case 'mail':
      if (command === 'MAIL FROM') return 'refused the sender';
      if (command !== 'RCPT TO') return 'refused the email';
      if (!/[^\p{ASCII}]/u.test(error.rejected?.[0] ?? '')) return 'refused the recipient';
      return 'refused the recipient, whose address needs SMTPUTF8';
    case 'login':
      return 'did not accept the login';
    case 'TLS':
      if (command === 'STARTTLS') return 'does not offer encryption (STARTTLS)';
      if (/CERT|ISSUER|SIGNATURE|HOSTNAME/.test(originalCode)) return 'has a certificate that is not trusted here';
      return timeoutType ? 'did not complete the TLS handshake in time' : 'failed the TLS handshake';
    case 'connection':
      if (code === 'EDNS') return 'has a name that cannot be resolved';
      if (timeoutType === 'GREETING_TIMEOUT') return 'did not greet in time';
      if (stoppedAnswering(error)) return 'stopped answering';
      // The error of several addresses names no system call.
      if (timeoutType === 'CONNECT_TIMEOUT' || syscall === 'connect' || originalCode === 'ECONNREFUSED')
        return 'cannot be reached';
      return error.response ? 'is not ready for email' : 'closed the connection';
  }
}

const longestWords = 200;

/** A server's answer in one line of visible ASCII, without credentials, encoded ones and tokens, which it may have echoed. */
function serverWords(response: string, { user, password }: SmtpServer): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const secrets =
    user && password ? [base64(`\0${user}\0${password}`), base64(password), base64(user), password, user] : [];
  const words = secrets
    .reduce((text, secret) => text.replaceAll(secret, '***'), response.replace(/\r?\n(?:\d{3}[ -])?/g, ' '))
    .replace(/[\w+=-]{20,}/g, '***')
    .replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return words.length > longestWords ? `${words.slice(0, longestWords - 3)}...` : words;
}
