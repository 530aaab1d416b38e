import type { Mail, WordedMail } from './mail.ts';

/** One way out for mails: an SMTP server, or a folder. */
export type MailTransport = {
  /** Hands one mail over. Throws MailNotSent. */
  send: (mail: Pick<Mail, 'id' | 'recipient' | 'queuedAt'>, words: WordedMail) => Promise<void>;
  /** Lets go of open connections. */
  close: () => void;
};

/** A mail that was not taken: the server is away for all mails alike, or refused this one. `message` is for the operator. */
export class MailNotSent extends Error {
  readonly why: 'away' | 'refused';
  constructor(why: 'away' | 'refused', message: string) {
    super(message);
    this.why = why;
  }
}
