import type { NodemailerError } from 'nodemailer';
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
  const { createTransport } = await import('nodemailer');
  try {
    await createTransport(smtpOptions(server, publicHost, settings)).verify();
    return stepsOf(server);
  } catch (error) {
    return stopAt(error as NodemailerError, server, stepsOf(server));
  }
}

function stepsOf(server: SmtpServer): MailServerCheck[] {
  const how = server.tls === 'implicit' ? 'encrypted from the start' : 'encrypted by STARTTLS';
  return [
    { step: 'connection', ok: true, words: `${hostAndPort(server)} answers` },
    server.tls === 'off'
      ? { step: 'TLS', ok: null, words: 'starttls=off in SMTP_URL: emails are sent unencrypted' }
      : { step: 'TLS', ok: true, words: `${how}, with a valid certificate` },
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
