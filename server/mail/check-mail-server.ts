import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { NodemailerError } from 'nodemailer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { hostAndPort, type SmtpServer } from '../config/server-urls.ts';
import { type SmtpSettings, smtpFailure, smtpOptions, stepOf } from './smtp-transport.ts';

/** One step of the conversation with a mail server; `ok` is null for a step that was not reached. */
type MailServerCheck = { step: 'connection' | 'TLS' | 'login'; ok: boolean | null; words: string };

/** Talks to a mail server up to the first mail, and returns the result of each step: connection, TLS, login. */
export async function checkMailServer(
  server: SmtpServer,
  publicHost: string,
  settings: SmtpSettings = {},
): Promise<MailServerCheck[]> {
  const { user, password } = server;
  const connection = new SMTPConnection(smtpOptions(server, publicHost, settings));
  let tls: string | null = null;
  const broken = new Promise<never>((_, reject) => {
    connection.on('error', reject);
  });
  async function talk(): Promise<void> {
    await promisify(connection.connect.bind(connection))();
    if (connection._socket instanceof TLSSocket) tls = connection._socket.getProtocol();
    if (user !== null && password !== null)
      await promisify(connection.login.bind(connection))({ user, pass: password });
    connection.quit();
  }
  try {
    await Promise.race([talk(), broken]);
    return stepsOf(server, tls);
  } catch (error) {
    connection.close();
    return stopAt(error as NodemailerError, server, stepsOf(server, tls));
  }
}

/** The messages on success. */
function stepsOf(server: SmtpServer, tls: string | null): MailServerCheck[] {
  const how = server.tls === 'implicit' ? 'from the start' : 'by STARTTLS';
  return [
    { step: 'connection', ok: true, words: `${hostAndPort(server)} answers` },
    server.tls === 'off'
      ? { step: 'TLS', ok: null, words: 'starttls=off in SMTP_URL: emails are sent unencrypted' }
      : { step: 'TLS', ok: true, words: `${tls} ${how}, with a valid certificate` },
    server.user === null
      ? { step: 'login', ok: null, words: 'SMTP_URL has no user' }
      : { step: 'login', ok: true, words: 'accepted' },
  ];
}

function stopAt(error: NodemailerError, server: SmtpServer, steps: MailServerCheck[]): MailServerCheck[] {
  const failedAt = steps.findIndex(({ step }) => step === stepOf(error));
  return steps.map((check, at) => {
    if (at < failedAt) return check;
    if (at > failedAt) return { ...check, ok: null, words: 'not tried' };
    return { ...check, ok: false, words: `${smtpFailure(error, server)} – ${remedyOf(error)}` };
  });
}

function remedyOf(error: NodemailerError): string {
  const schemes = 'smtps:// is for ports with TLS from the start (465), smtp:// for STARTTLS';
  switch (stepOf(error)) {
    case 'login':
      return 'check user and password in SMTP_URL';
    case 'TLS':
      if (error.command === 'STARTTLS')
        return `${schemes}; smtp://…?starttls=off sends without encryption, for a server on this machine or a closed network`;
      return /SSL/.test(error.originalCode ?? '') ? schemes : 'put your own CA into NODE_EXTRA_CA_CERTS';
    case 'connection':
    case 'mail':
      return `check host and port in SMTP_URL; ${schemes}`;
  }
}
