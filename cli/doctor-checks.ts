import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listAuditEvents } from '#server/audit/audit-event.ts';
import { type Config, placeholderWarning } from '#server/config/config.ts';
import type { Hub } from '#server/config/hub.ts';
import { loopbackNames } from '#server/config/public-url.ts';
import { hostAndPort } from '#server/config/server-urls.ts';
import { deskRoleWords, hasDeskRole } from '#server/database/desk-role.ts';
import { dataFolderError } from '#server/database/embedded/cluster.ts';
import { patientRead } from '#server/database/large-tables.ts';
import { MailNotSent } from '#server/deps.ts';
import { forgottenProxy, isTrustedProxy } from '#server/http/client-address.ts';
import type { FailureKind } from '#server/http/provider-fetch.ts';
import { askHub } from '#server/hub/hub-connection.ts';
import { day } from '#server/limits.ts';
import { checkMailServer } from '#server/mail/check-mail-server.ts';
import { openTransport, outboxFile, outboxOf, prepareOutbox } from '#server/mail/transport.ts';
import { countSeals, sealProblem } from '#server/operations/renew-seals.ts';
import { ssoWarnings } from '#server/single-sign-on/sso-warnings.ts';
import { isFailure } from './print.ts';
import { withDatabase, withKeys } from './with-database.ts';

/** One check of `vestibule doctor`; `ok` is null if it was skipped. A warning is not a failure. */
export type Check = { check: string } & Finding;

/** What a check has found. */
export type Finding = { ok: boolean | null; warning?: true; words: string };

const passed = (words: string): Finding => ({ ok: true, words });
const warned = (words: string): Finding => ({ ok: true, warning: true, words });
const failed = (words: string): Finding => ({ ok: false, words });

const quiet = { info() {}, warn() {} };

/** Whether the data folder is writable. */
export async function checkDataFolder({ dataFolder, databaseUrl, smtp }: Config): Promise<Finding> {
  if (databaseUrl && smtp) return { ok: null, words: 'not used with DATABASE_URL and SMTP_URL' };
  const trial = join(dataFolder, `.${randomUUID()}.doctor`);
  try {
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    await writeFile(trial, '', { flag: 'wx', mode: 0o600 });
    await rm(trial);
    return passed(`${dataFolder} is writable`);
  } catch (error) {
    return failed((dataFolderError(dataFolder, error) as Error).message);
  }
}

/** Whether anything of single sign-on expires soon, or locks people out. */
export async function checkEnds(): Promise<Finding> {
  const warnings = await withDatabase(({ sql }) => ssoWarnings({ sql, now: () => new Date() }));
  if (warnings.length > 0) return failed(warnings.join('; '));
  return passed('nothing expires within 60 days, and no domain is locked out');
}

/** Whether everything sealed is sealed with the first secret. */
export async function checkSecrets(): Promise<Finding> {
  const problem = sealProblem(await withKeys(({ sql, keys }) => countSeals(sql, keys)));
  if (!problem) return passed('everything is sealed under the first secret');
  return problem.isLost ? failed(problem.words) : warned(problem.words);
}

/** Whether a running instance has met a reverse proxy, within two days, that is still not trusted. */
export async function checkProxy(config: Config): Promise<Finding> {
  const since = new Date(Date.now() - 2 * day);
  const [met] = await withDatabase(({ sql }) =>
    patientRead(sql, (sql) => listAuditEvents(sql, { event: 'proxy-not-trusted', since, limit: 1 })),
  );
  const address = met?.address ?? undefined;
  if (!address || isTrustedProxy(address, config.trustedProxies))
    return passed('none has been met that trustedProxies lacks');
  return failed(forgottenProxy(address, config));
}

/** Whether PostgreSQL holds those who administer a customer to it: without its role they find no desk. */
export async function checkDesk(): Promise<Finding> {
  return await withDatabase(async ({ sql }) => {
    const [row] = await sql`select current_user as owner from membership where administers limit 1`;
    if (!row) return passed('nobody administers a customer');
    if (await hasDeskRole(sql)) return passed('administrators are held to their customers');
    return warned(`administrators find no desk – in PostgreSQL: ${deskRoleWords(row.owner)}`);
  });
}

/** Whether the links on the pages are configured. */
export function checkLinks(config: Config): Finding {
  const warning = placeholderWarning(config);
  return warning ? warned(warning) : passed('support, imprint and solutions are set');
}

/** Whether the database is reachable; runs missing migrations, as every command does. */
export async function checkDatabase(): Promise<Finding> {
  try {
    const applied = await withDatabase(async ({ applied }) => applied);
    return passed(`up to date${applied.length > 0 ? `, after ${applied.join(', ')}` : ''}`);
  } catch (error) {
    if (!isFailure(error)) throw error;
    return failed(error.message);
  }
}

/** Whether emails can be sent: through each step of the mail server, or into the outbox. */
export async function checkMail({ smtp, dataFolder, publicUrl }: Config): Promise<Check[]> {
  if (smtp) {
    const steps = await checkMailServer(smtp, publicUrl.hostname);
    return steps.map(({ step, ...finding }) => ({ check: `mail ${step}`, ...finding }));
  }
  const outbox = outboxOf(dataFolder);
  try {
    await prepareOutbox(outbox);
    const finding = passed(`emails are written to ${outbox} and are not delivered – set SMTP_URL`);
    return [{ check: 'mail outbox', ...finding }];
  } catch (error) {
    return [{ check: 'mail outbox', ...failed((dataFolderError(dataFolder, error) as Error).message) }];
  }
}

/** Sends an email without any secret through the normal path. */
export async function sendTestMail(config: Config, recipient: string): Promise<Finding> {
  const { smtp, dataFolder, publicUrl, basePath, brand } = config;
  const text = `This is the test email that "vestibule doctor" sends for ${publicUrl.origin}${basePath}/.`;
  const mail = { id: randomUUID(), recipient, queuedAt: new Date() };
  const transport = openTransport(config, quiet);
  try {
    await transport.send(mail, { subject: `Test email from ${brand.branding.name}`, text, html: `<p>${text}</p>` });
    const where = smtp ? `accepted by ${hostAndPort(smtp)}` : `written to ${outboxFile(outboxOf(dataFolder), mail)}`;
    return passed(`to ${recipient}: ${where}`);
  } catch (error) {
    if (!(error instanceof MailNotSent)) throw error;
    return failed(`to ${recipient}: ${error.message}`);
  } finally {
    transport.close();
  }
}

/** Whether what is sent to PostgreSQL and back can be read or changed in between. */
export function checkLine(databaseUrl: string): Finding {
  const { hostname, searchParams } = new URL(databaseUrl);
  if (loopbackNames.includes(hostname)) return passed('on this machine');
  const mode = searchParams.get('sslmode') ?? '';
  if (mode === 'verify-full') return passed('encrypted, and the certificate is checked');
  const words =
    mode === 'require'
      ? 'encrypted, but the certificate is not checked, so another machine can pretend to be the database'
      : 'others on the network may read and change what is sent';
  return warned(`${words} – add sslmode=verify-full to DATABASE_URL`);
}

/** Whether the hub behind the gate answers; what it answers to a stranger is its own business. */
export async function checkHub(config: Config, hub: Hub): Promise<Finding> {
  const answer = await askHub(config, hub);
  if (answer.kind === 'failed') return failed(`${answer.failure.message} – ${remedies[answer.failure.kind]}`);
  const words = `${hub.url.origin} answers ${answer.status} to a visitor who is not signed in`;
  return answer.status < 500 ? passed(words) : warned(`${words} – see the hub's log`);
}

const remedies: Record<FailureKind, string> = {
  certificate: 'put your own CA into NODE_EXTRA_CA_CERTS; the certificate must be for the host in hub.url',
  tls: 'hub.url begins with https:// only if the hub speaks TLS at that port',
  silent: 'see whether the hub hangs, or a firewall drops the connection',
  other: 'start the hub, or correct hub.url',
};
