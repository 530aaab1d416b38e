import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mail } from '../storage/mail-kinds.ts';

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
