import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { connect } from '#server/database/connect.ts';
import type { Database, Place } from '#server/database/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server, and the migrated database on it that each test copies. */
    databaseServer: Place;
    templateDatabase: string;
  }
}

export type DatabaseForTest = {
  sql: Database;
  place: Place;
  /** Closes the pool and drops the database. */
  close(): Promise<void>;
};

/** A migrated, empty, private database on a real PostgreSQL. Close it in `afterAll` or `afterEach`. */
export async function databaseForTest(): Promise<DatabaseForTest> {
  const server = inject('databaseServer');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(server, (sql) => sql`create database ${sql(name)} template ${sql(inject('templateDatabase'))}`);
  const place = placeOf(server, name);
  const sql = connect(place);
  async function close() {
    await sql.end();
    await onServer(server, (admin) => admin`drop database if exists ${admin(name)} with (force)`);
  }
  return { sql, place, close };
}

/** The same server, another database. */
export function placeOf(server: Place, database: string): Place {
  if (!('url' in server)) return { ...server, database };
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return { url: url.href };
}

/** Runs something on the server's own database over a separate connection. */
export async function onServer<T>(server: Place, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const sql = connect(server, { poolSize: 1, statementTimeout: 0, name: 'vestibule test' });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
