import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MailNotSent, type MailTransport } from '../deps/mail-transport.ts';
import { mailMessage, type Sender } from './message.ts';
import { outboxFile, prepareOutbox } from './outbox.ts';

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
