import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.ts';
import { hostAndPort } from '../config/server-urls.ts';
import { MailNotSent, type MailTransport } from '../deps.ts';
import type { Mail } from '../people/mail-kinds.ts';
import { mailMessage, type Sender, senderOf } from './message.ts';
import { smtpTransport } from './smtp-transport.ts';

type MailConfig = Pick<Config, 'smtp' | 'dataFolder' | 'brand' | 'mailFrom' | 'publicUrl'>;

/** The configured transport for emails: the mail server, else the outbox folder. Does not connect yet. */
export function openTransport(
  config: MailConfig,
  log: { info(text: string): void; warn(text: string): void },
): MailTransport {
  const { smtp } = config;
  if (!smtp) {
    const outbox = outboxOf(config.dataFolder);
    log.warn(`SMTP_URL is not set: emails are written to ${outbox} and are not delivered`);
    return folderTransport(outbox, senderOf(config));
  }
  if (smtp.tls === 'off') log.warn(`Emails are sent through ${hostAndPort(smtp)} without encryption (starttls=off)`);
  else log.info(`Emails are sent through ${hostAndPort(smtp)}`);
  return smtpTransport(smtp, senderOf(config));
}

/** Where emails go inside the data folder if there is no mail server. */
export function outboxOf(dataFolder: string): string {
  return join(dataFolder, 'outbox');
}

/** The file of an email: stable per email, and sorted in queue order. */
export function outboxFile(outbox: string, { id, queuedAt }: Pick<Mail, 'id' | 'queuedAt'>): string {
  return join(outbox, `${queuedAt.toISOString().replaceAll(':', '-')}-${id}.eml`);
}

/** Creates the outbox, and the data folder if needed, or closes it to others. Throws file system errors. */
export async function prepareOutbox(outbox: string): Promise<void> {
  await mkdir(outbox, { recursive: true, mode: 0o700 });
  await chmod(outbox, 0o700);
}

/** Writes each email to a folder as a complete `.eml` file that only this user can read. Creates the folder. */
export function folderTransport(outbox: string, sender: Sender): MailTransport {
  return {
    async send(mail, words) {
      const writer = await openWriter();
      const { message } = await writer.sendMail(mailMessage(mail, words, sender, { eightBit: true }));
      await prepareOutbox(outbox)
        .then(() => replaceFile(outboxFile(outbox, mail), message as Buffer))
        .catch((error: NodeJS.ErrnoException) => {
          throw new MailNotSent('away', `the outbox ${outbox} cannot be written (${error.syscall}: ${error.code})`);
        });
    },
    close() {},
  };
}

async function openWriter() {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'unix',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Readers see the complete file or none. */
async function replaceFile(path: string, content: Buffer): Promise<void> {
  const draft = join(dirname(path), `.${randomBytes(6).toString('hex')}.draft`);
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
