import { isIP } from 'node:net';
import type { SMTPConnectionOptions } from 'nodemailer';
import type { SmtpServer } from '../config/smtp-url.ts';
import { second } from '../limits.ts';

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
