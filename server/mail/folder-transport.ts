import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTransport } from 'nodemailer';
import { prepareDataFolder } from '../storage/data-folder.ts';
import type { Mail } from './mail.ts';
import { mailMessage, type Sender } from './mail-message.ts';
import { MailNotSent, type MailTransport } from './transport.ts';

/** The folder of the data folder that mails are put into when there is no mail server. */
export function outboxOf(dataFolder: string): string {
  return join(dataFolder, 'outbox');
}

/** Where a mail lies: the same mail has the same file, and files are in the order of their mails. */
export function outboxFile(outbox: string, { id, queuedAt }: Pick<Mail, 'id' | 'queuedAt'>): string {
  return join(outbox, `${queuedAt.toISOString().replaceAll(':', '-')}-${id}.eml`);
}

/** Puts each mail into a folder as a whole `.eml` file that this user alone can read. The folder is made on the first one. */
export function folderTransport(outbox: string, sender: Sender): MailTransport {
  const writer = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'unix',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail, words) {
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

/** Makes the outbox, or closes it to others. Throws errors of the file system. */
export async function prepareOutbox(outbox: string): Promise<void> {
  await prepareDataFolder(dirname(outbox));
  await mkdir(outbox, { recursive: true, mode: 0o700 });
  await chmod(outbox, 0o700);
}

/** A reader sees the file whole or not at all. */
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
