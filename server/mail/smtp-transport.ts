import type { Readable } from 'node:stream';
import { createTransport, type NodemailerError } from 'nodemailer';
import { limits } from '../limits.ts';
import { mailMessage, type Sender } from './mail-message.ts';
import { mailNotSent } from './smtp-failure.ts';
import { type SmtpSettings, smtpOptions } from './smtp-options.ts';
import type { SmtpServer } from './smtp-url.ts';
import type { MailTransport } from './transport.ts';

/** Hands mails to a mail server, over connections that are kept for a while and are as many as there are lanes. */
export function smtpTransport(server: SmtpServer, sender: Sender, settings: SmtpSettings = {}): MailTransport {
  const { times = limits.mailServer } = settings;
  const { user, password } = server;
  const pool = createTransport({
    ...smtpOptions(server, sender.host, settings),
    pool: true,
    maxConnections: limits.mailLanes,
    idleTimeout: times.idle,
    // A kept connection that turns out to be gone is replaced once.
    maxRequeues: 1,
    // A login that is configured is never left out, or a server could have mails sent without it.
    ...(user !== null && password !== null && { auth: { user, pass: password }, forceAuth: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  /** The bytes of each mail under way, by the signal that ends its sending. */
  const bodies = new WeakMap<AbortSignal, Readable>();
  pool.use('stream', ({ data: { signal }, message }, done) => {
    message.processFunc((body) => {
      if (signal) bodies.set(signal, body);
      return body;
    });
    done();
  });

  return {
    async send(mail, words) {
      const signal = AbortSignal.timeout(times.takeMail);
      try {
        await pool.sendMail({ ...mailMessage(mail, words, sender), signal });
      } catch (error) {
        // The server is asked for DATA before the first byte is read.
        const inMidst = bodies.get(signal)?.readableDidRead ?? false;
        throw mailNotSent(error as NodemailerError, server, inMidst);
      }
    },
    close: () => pool.close(),
  };
}
