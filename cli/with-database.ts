import { userInfo } from 'node:os';
import { insertAuditEvent } from '#server/audit/audit-event.ts';
import type { By } from '#server/audit/audit-events.ts';
import { type Config, readConfig } from '#server/config/config.ts';
import { type Keys, keysOf, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { isDatabaseAway } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { migrate } from '#server/database/migrate.ts';
import { openStorage } from '#server/database/open-storage.ts';
import type { JsonFlag } from './options.ts';
import { type Answer, failure, isFailure, printAnswer, printWarning } from './print.ts';

/** The configuration, for commands that need one. Throws a failure that lists the problems. */
export function loadConfig(): Config {
  const result = readConfig(process.env);
  if (result.kind === 'ok') return result.config;
  throw failure(['The configuration is not valid:', ...result.problems].join('\n  '), 'notAvailable');
}

/** `applied` names the migrations that ran first. */
export type Opened = { sql: Database; config: Config; applied: string[] };

/**
 * Runs a command on the migrated database of the configuration, with or without a running server. Throws a failure if the
 * database is not available.
 */
export async function withDatabase<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const storage = await openStorage(config, { info() {}, warn: printWarning }).catch(rejectAsNotAvailable);
  try {
    const applied = await migrate(storage.sql).catch(rejectAsNotAvailable);
    return await work({ sql: storage.sql, config, applied });
  } catch (error) {
    throw isDatabaseAway(error) ? notAvailable(error as Error) : error;
  } finally {
    await storage.close();
  }
}

function notAvailable(error: Error): Error {
  return isFailure(error) ? error : failure(`The database is not available: ${error.message}`, 'notAvailable');
}

const rejectAsNotAvailable = (error: Error) => Promise.reject(notAvailable(error));

/** Who runs the command, and when: the operating system's user, who may have changed to another one by sudo. */
export function byOperator(): By {
  const before = process.getuid?.() === 0 ? process.env.SUDO_USER : undefined;
  return { actor: `os:${before || nameOfUser()}`, now: new Date() };
}

/** Records that whoever runs the command took out or replaced what the database holds. */
export async function record(sql: Database, event: 'backup-written' | 'backup-restored' | 'users-exported') {
  const { actor, now } = byOperator();
  await insertAuditEvent(sql, { event, actor }, now);
}

/** Containers often run as a number that has no name. */
function nameOfUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

/** For commands that seal or open secrets. */
export type Keyed = Opened & { keys: Keys; now: () => Date; actor: string };

/** Runs a command on the database, with the server's keys. */
export async function withKeys<T>(work: (keyed: Keyed) => Promise<T>): Promise<T> {
  return await withDatabase(async (opened) => {
    const secrets = opened.config.secrets ?? (await secretsOfDataFolder(opened.config.dataFolder));
    return await work({ ...opened, keys: keysOf(secrets), now: () => new Date(), actor: byOperator().actor });
  });
}

type With<Context> = <T>(work: (context: Context) => Promise<T>) => Promise<T>;

/** The action of a command: its work in `within`, whose answer is printed; null if the work has printed it. */
function action<Context, Args extends unknown[]>(
  within: With<Context>,
  run: (context: Context, ...args: Args) => Promise<Answer | null>,
) {
  return async (...args: Args): Promise<void> => {
    const answer = await within((context) => run(context, ...args));
    // Commander passes the arguments, the options and the command.
    if (answer) printAnswer(answer, (args as unknown[] as JsonFlag[]).at(-2)?.json);
  };
}

/** The action of a command that works on the database. */
export function onDatabase<Args extends unknown[]>(run: (opened: Opened, ...args: Args) => Promise<Answer | null>) {
  return action(withDatabase, run);
}

/** The action of a command that works on the database with the server's keys. */
export function onKeys<Args extends unknown[]>(run: (keyed: Keyed, ...args: Args) => Promise<Answer | null>) {
  return action(withKeys, run);
}
