import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { checkMailServer } from '../mail/check-mail-server.ts';
import { openTransport } from '../mail/open-transport.ts';
import { outboxFile, outboxOf, prepareOutbox } from '../mail/outbox.ts';
import { hostAndPort } from '../mail/smtp-url.ts';
import { MailNotSent } from '../mail/transport.ts';
import { metadataWarnings } from '../single-sign-on/saml/watch-metadata.ts';
import { listEnds, warningsOf } from '../single-sign-on/what-ends.ts';
import { dataFolderError, prepareDataFolder } from '../storage/data-folder.ts';
import { isFailure } from './failure.ts';
import { withDatabase } from './with-database.ts';

/** One check of `vestibule doctor`; `ok` is null for one that was skipped. */
export type Check = { check: string; ok: boolean | null; words: string };

const quiet = { info() {}, warn() {} };

/** Whether files can be put into the data folder. */
export async function checkDataFolder({ dataFolder, databaseUrl, smtp }: Config): Promise<Check> {
  const check = 'data folder';
  if (databaseUrl && smtp) return { check, ok: null, words: 'not used with DATABASE_URL and SMTP_URL' };
  const trial = join(dataFolder, `.${randomUUID()}.doctor`);
  try {
    await prepareDataFolder(dataFolder);
    await writeFile(trial, '', { flag: 'wx', mode: 0o600 });
    await rm(trial);
    return { check, ok: true, words: `${dataFolder} is writable` };
  } catch (error) {
    return { check, ok: false, words: (dataFolderError(dataFolder, error) as Error).message };
  }
}

/** Whether certificates and secrets of single sign-on end soon, and whether providers have changed their metadata. */
export async function checkEnds(): Promise<Check> {
  const check = 'single sign-on';
  const warnings = await withDatabase(async (sql) => [
    ...warningsOf(await listEnds(sql), new Date()),
    ...(await metadataWarnings(sql)),
  ]);
  if (warnings.length === 0) return { check, ok: true, words: 'no certificate or secret ends within 60 days' };
  return { check, ok: false, words: warnings.join('; ') };
}

/** Whether the database can be reached; missing migrations are run, as with every command. */
export async function checkDatabase(): Promise<Check> {
  const check = 'database';
  try {
    const applied = await withDatabase(async (_sql, _config, applied) => applied);
    return { check, ok: true, words: `up to date${applied.length > 0 ? `, after ${applied.join(', ')}` : ''}` };
  } catch (error) {
    if (!isFailure(error)) throw error;
    return { check, ok: false, words: error.message };
  }
}

const advice = {
  connection: 'check host and port in SMTP_URL; smtps:// is for ports with TLS from the start, smtp:// for STARTTLS',
  TLS: 'an authority of your own goes into NODE_EXTRA_CA_CERTS',
  login: 'check user and password in SMTP_URL',
};

/** Whether mails can be handed over: to the mail server step by step, or into the outbox. */
export async function checkMail({ smtp, dataFolder, publicUrl }: Config): Promise<Check[]> {
  if (smtp) {
    const steps = await checkMailServer(smtp, publicUrl.hostname);
    return steps.map(({ step, ok, words }) => ({
      check: `mail ${step}`,
      ok,
      words: ok === false ? `${words} – ${advice[step]}` : words,
    }));
  }
  const outbox = outboxOf(dataFolder);
  try {
    await prepareOutbox(outbox);
    return [{ check: 'mail outbox', ok: true, words: `mails are put into ${outbox} and reach nobody – set SMTP_URL` }];
  } catch (error) {
    return [{ check: 'mail outbox', ok: false, words: (dataFolderError(dataFolder, error) as Error).message }];
  }
}

/** Sends a mail without any secret the way that all mails go. */
export async function sendTestMail(config: Config, recipient: string): Promise<Check> {
  const check = 'test mail';
  const { smtp, dataFolder, publicUrl, basePath, branding } = config;
  const text = `This is the test mail that "vestibule doctor" sends for ${publicUrl.origin}${basePath}/.`;
  const mail = { id: randomUUID(), recipient, queuedAt: new Date() };
  const transport = openTransport(config, quiet);
  try {
    await transport.send(mail, { subject: `Test mail from ${branding.name}`, text, html: `<p>${text}</p>` });
    const where = smtp ? `${hostAndPort(smtp)} took it` : `lies in ${outboxFile(outboxOf(dataFolder), mail)}`;
    return { check, ok: true, words: `to ${recipient}: ${where}` };
  } catch (error) {
    if (!(error instanceof MailNotSent)) throw error;
    return { check, ok: false, words: `to ${recipient}: ${error.message}` };
  } finally {
    transport.close();
  }
}
