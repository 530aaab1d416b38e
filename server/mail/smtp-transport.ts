import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { NodemailerError, SMTPConnectionOptions } from 'nodemailer';
import type { SmtpServer } from '../config/smtp-url.ts';
import type { MailTransport } from '../deps.ts';
import { second } from '../limits.ts';
import { mailMessage, type Sender } from './message.ts';
import { mailNotSent } from './smtp-failure.ts';

/**
 * mail: how long the mail server may take to connect and greet, including TLS; to answer a command; and to accept one
 * email in total. An unused connection is kept for `idle`.
 */
export const mailServer = {
  reach: 10 * second,
  answer: 20 * second,
  takeMail: 30 * second,
  idle: 10 * second,
} as const;

/** Not configurable. `ca` is for tests: certificates are checked against the system's CAs and NODE_EXTRA_CA_CERTS. */
export type SmtpSettings = { ca?: string; times?: Record<keyof typeof mailServer, number> };

/**
 * nodemailer's options for a mail server: encrypted as SMTP_URL says or not at all, TLS 1.2 or newer, certificates
 * verified whatever the environment says, and a timeout for each wait.
 */
export function smtpOptions(
  { host, port, tls }: SmtpServer,
  publicHost: string,
  { ca, times = mailServer }: SmtpSettings,
): SMTPConnectionOptions {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca && { ca }) },
    name: nameInGreeting(publicHost),
    // Everything before the login: name lookup, connection, greeting, TLS.
    connectionTimeout: times.reach,
    socketTimeout: times.answer,
    maxResponseSize: 64 * 1024,
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
      const { sendMail, isBodyRead } = await pool;
      try {
        await sendMail({ ...mailMessage(mail, words, sender), signal });
      } catch (error) {
        // The first byte is read only after the server accepted DATA.
        throw mailNotSent(error as NodemailerError, server, isBodyRead(signal));
      }
    },
    close: () => void pool?.then(({ close }) => close()),
  };
}

/** The connections, and whether the body of an email in progress, told by its signal, was read for the server. */
async function openPool(server: SmtpServer, sender: Sender, settings: SmtpSettings) {
  const { createTransport } = await import('nodemailer');
  const { times = mailServer } = settings;
  const { user, password } = server;
  const pool = createTransport({
    ...smtpOptions(server, sender.host, settings),
    pool: true,
    maxConnections: mailsAtOnce,
    idleTimeout: times.idle,
    // A kept connection that was dropped is replaced once.
    maxRequeues: 1,
    // A configured login is never skipped, or a server could get emails without it.
    ...(user !== null && password !== null && { auth: { user, pass: password }, forceAuth: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  /** The bytes of each email in progress, by the signal that aborts it. */
  const bodies = new WeakMap<AbortSignal, Readable>();
  pool.use('stream', ({ data: { signal }, message }, done) => {
    message.processFunc((body) => {
      if (signal) bodies.set(signal, body);
      return body;
    });
    done();
  });

  return {
    sendMail: (message: Parameters<typeof pool.sendMail>[0]) => pool.sendMail(message),
    isBodyRead: (signal: AbortSignal) => bodies.get(signal)?.readableDidRead ?? false,
    close: () => pool.close(),
  };
}
