import type { Readable } from 'node:stream';
import type { NodemailerError } from 'nodemailer';
import type { SmtpServer } from '../config/smtp-url.ts';
import type { MailTransport } from '../deps/mail-transport.ts';
import { inOnePiece, mailMessage, type Sender } from './message.ts';
import { mailNotSent } from './smtp-failure.ts';
import { mailServer, type SmtpSettings, smtpOptions } from './smtp-options.ts';

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
        await sendMail({ ...(await inOnePiece(mailMessage(mail, words, sender))), signal });
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
