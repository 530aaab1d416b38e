import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mail } from './mail.ts';

/** The folder of the data folder that mails are put into when there is no mail server. */
export function outboxOf(dataFolder: string): string {
  return join(dataFolder, 'outbox');
}

/** Where a mail lies: the same mail has the same file, and files are in the order of their mails. */
export function outboxFile(outbox: string, { id, queuedAt }: Pick<Mail, 'id' | 'queuedAt'>): string {
  return join(outbox, `${queuedAt.toISOString().replaceAll(':', '-')}-${id}.eml`);
}

/** Makes the outbox, and the data folder if need be, or closes it to others. Throws errors of the file system. */
export async function prepareOutbox(outbox: string): Promise<void> {
  await mkdir(outbox, { recursive: true, mode: 0o700 });
  await chmod(outbox, 0o700);
}
