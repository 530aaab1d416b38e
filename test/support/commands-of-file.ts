import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { addUser } from '#server/accounts/users.ts';
import type { Database } from '#server/database/database.ts';
import { cuttableDatabase } from './cuttable-database.ts';
import { databaseForTest } from './database-for-test.ts';
import { sharedByFile } from './portal-of-file.ts';
import { quickFolder } from './quick-folder.ts';
import { emptyDatabase } from './rows-for-test.ts';
import { portalSecret, runVestibule } from './run-vestibule.ts';

/**
 * The command line on a database of its own, for the tests of a file: `vestibule` runs a line, its words between blanks, and
 * `events` are those it has recorded, in order.
 */
export function commandsOfFile({ each }: { each?: (sql: Database) => Promise<unknown> } = {}) {
  const commands = sharedByFile(async () => {
    const database = await databaseForTest();
    const wire = await cuttableDatabase(database);
    const folder = await mkdtemp(join(quickFolder, 'vestibule-commands-'));
    const env = {
      DATABASE_URL: wire.url,
      VESTIBULE_SECRET: portalSecret,
      VESTIBULE_DATA: folder,
      VESTIBULE_CONFIG: '',
    };
    return {
      sql: database.sql,
      database,
      env,
      folder,
      vestibule: (line: string, input: string | Buffer = '', more: Record<string, string> = {}) =>
        runVestibule(line.split(' '), { env: { ...env, ...more }, input }),
      events: async () =>
        (await database.sql<{ event: string }[]>`select event from audit_event order by id`).map(({ event }) => event),
      close: async () => {
        await wire.close();
        await database.close();
        await rm(folder, { recursive: true });
      },
    };
  });
  if (each)
    beforeEach(async () => {
      await emptyDatabase(commands);
      await each(commands.sql);
      await commands.sql`delete from audit_event`;
    });
  return commands;
}

/** Adds a customer without networks and second factor. */
export async function addCustomerTo(sql: Database, key: string, name = key): Promise<void> {
  await addCustomer(sql, { key, name, allowedNetworks: [], twoFactor: 'off' }, { actor: 'os:alice', now: new Date() });
}

/** Adds a user of acme without a password; returns the id. */
export async function addUserTo(sql: Database, username: string, more: { active?: boolean } = {}): Promise<string> {
  const user = {
    username,
    email: `${username}@acme.example`,
    passwordHash: null,
    language: null,
    mayChangePassword: true,
  };
  const added = await addUser(
    sql,
    { ...user, active: true, customers: ['acme'], ...more },
    { actor: 'os:alice', now: new Date() },
  );
  return added.kind === 'added' ? added.id : '';
}
