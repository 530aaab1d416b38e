import { setTimeout as pause } from 'node:timers/promises';
import type { MailKind } from '#server/people/mail-kinds.ts';
import {
  type MailServerForTest,
  mailServerForTest,
  type ReceivedMail,
  testAuthorityFile,
} from '../support/mail-for-test.ts';
import { texts } from './texts.ts';

/** An email as its reader sees it. */
type Letter = {
  subject: string;
  text: string;
  html: string;
  /** The only link in it; empty if the email has a code. */
  link: string;
  /** The six digits on its last line, where autofill looks for them; empty without a code. */
  code: string;
};

/** Everyone's mailboxes in a test, filled by SMTP. */
export class MailInbox {
  /** The mail server before them, for a test in which it fails. */
  readonly server: MailServerForTest;
  readonly #read = new Set<ReceivedMail>();

  private constructor(server: MailServerForTest) {
    this.server = server;
  }

  /** Opens the mailboxes behind a mail server without TLS and login. */
  static async open(): Promise<MailInbox> {
    return new MailInbox(await mailServerForTest({ tls: 'off' }));
  }

  /** The environment of a portal that sends here. */
  get env(): Record<string, string> {
    return { SMTP_URL: this.server.url, NODE_EXTRA_CA_CERTS: testAuthorityFile };
  }

  /** Waits for the next email of a kind to a recipient and removes it. */
  async take(recipient: string, kind: MailKind): Promise<Letter> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const mail = this.#to(recipient, kind).find((mail) => !this.#read.has(mail));
      if (mail) {
        this.#read.add(mail);
        return letterOf(mail);
      }
      if (Date.now() > deadline) throw new Error(`No mail ${kind} has come to ${recipient}`);
      await pause(20);
    }
  }

  /** How many emails of a kind a recipient has received so far, including removed ones. */
  count(recipient: string, kind: MailKind): number {
    return this.#to(recipient, kind).length;
  }

  #to(recipient: string, kind: MailKind): ReceivedMail[] {
    const subject = texts[`mail-${kind}-subject`].replace('{hub}', 'Vestibule');
    return this.server.mails.filter(
      ({ envelope, parsed }) => envelope.to.includes(recipient) && parsed.subject === subject,
    );
  }

  async close(): Promise<void> {
    await this.server.close();
  }
}

function letterOf({ parsed }: ReceivedMail): Letter {
  const { subject = '', text = '', html = '' } = parsed;
  const [link = '', ...more] = new Set(text.match(/https?:\/\/\S+/g));
  if (more.length > 0) throw new Error(`The mail ${subject} has more than one link: ${text}`);
  const code = text.match(/@\S+ #(\d{6})\s*$/)?.[1] ?? '';
  return { subject, text, html, link, code };
}
