import { mkdirSync, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';

/** A mail as the portal sent it. */
export type ShownMail = { id: string; to: string; subject: string; at: Date; text: string; html: string };

/** The mails so far, newest first, and word of each new one. */
export type Mailbox = {
  list: () => readonly ShownMail[];
  /** Calls back for each mail from now on; returns how to end that. */
  onMail: (tell: (mail: ShownMail) => void) => () => void;
  close: () => void;
};

/** Reads the folder where a portal without a mail server leaves its mails. */
export function openMailbox(outbox: string): Mailbox {
  mkdirSync(outbox, { recursive: true, mode: 0o700 });
  const mails = new Map<string, ShownMail>();
  const listeners = new Set<(mail: ShownMail) => void>();
  let reading = Promise.resolve();
  const watcher = watch(outbox, () => {
    reading = reading.then(readNew);
  });

  async function readNew() {
    const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
    for (const name of names) {
      const id = name.slice(0, -'.eml'.length).replace(/[^A-Za-z0-9-]/g, '-');
      if (mails.has(id)) continue;
      const mail = await PostalMime.parse(await readFile(join(outbox, name)));
      const to = mail.to?.map(({ address }) => address).join(', ') ?? '';
      const { subject = '', text = '', html = '' } = mail;
      const shown = { id, to, subject, at: new Date(mail.date ?? Date.now()), text, html };
      mails.set(id, shown);
      for (const tell of listeners) tell(shown);
    }
  }

  return {
    list: () => [...mails.values()].reverse(),
    onMail: (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    close: () => watcher.close(),
  };
}
