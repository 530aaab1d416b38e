import { isIP } from 'node:net';
import type { SMTPConnectionOptions } from 'nodemailer';
import { limits } from '../limits.ts';
import type { SmtpServer } from './smtp-url.ts';

/** What is not configured. `ca` is for tests: certificates are checked against the system's authorities and NODE_EXTRA_CA_CERTS. */
export type SmtpSettings = { ca?: string; times?: Record<keyof typeof limits.mailServer, number> };

/**
 * How nodemailer is to talk with a mail server: encrypted as SMTP_URL says or not at all, with TLS 1.2 or newer and a
 * certificate that is checked whatever the environment says, and with an end to each wait.
 */
export function smtpOptions(
  { host, port, tls }: SmtpServer,
  publicHost: string,
  { ca, times = limits.mailServer }: SmtpSettings,
): SMTPConnectionOptions {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'off',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca && { ca }) },
    name: nameInGreeting(publicHost),
    // All that comes before the login: the name, the connection, the greeting, TLS.
    connectionTimeout: times.reach,
    socketTimeout: times.answer,
    maxResponseSize: 64 * 1024,
  };
}

/** RFC 5321 §4.1.3 wants addresses in brackets; a URL has them around IPv6 alone. */
function nameInGreeting(publicHost: string): string {
  if (isIP(publicHost)) return `[${publicHost}]`;
  return publicHost.replace(/^\[/, '[IPv6:');
}
