import type { Mail, WordedMail } from '../storage/mail-kinds.ts';

/** A transport for emails: an SMTP server or a folder. */
export type MailTransport = {
  /** Sends one email. Throws MailNotSent. */
  send: (mail: Pick<Mail, 'id' | 'recipient' | 'queuedAt'>, words: WordedMail) => Promise<void>;
  /** Closes open connections. */
  close: () => void;
};

/** An email was not accepted: the server is down for all emails, or refused this one. `message` is for the operator. */
export class MailNotSent extends Error {
  readonly why: 'away' | 'refused';
  constructor(why: 'away' | 'refused', message: string) {
    super(message);
    this.why = why;
  }
}
