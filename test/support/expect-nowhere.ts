import { expect } from 'vitest';
import type { PortalForTest } from './portal-for-test.ts';

/** Fails if one of the secrets appears in the logs or in any table of a portal, in any encoding. */
export async function expectNowhere(portal: PortalForTest, secrets: string[]): Promise<void> {
  const [logs, database] = [portal.logs(), await databaseText(portal)];
  expect(logs.length).toBeGreaterThan(1000);
  expect(database.length).toBeGreaterThan(1000);
  for (const form of secrets.flatMap(formsOf)) {
    expect(logs.includes(form), `${form} in the logs`).toBe(false);
    expect(database.includes(form), `${form} in the database`).toBe(false);
  }
}

/** The whole content of the database, as text. */
async function databaseText({ sql }: PortalForTest): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`;
  const texts = await Promise.all(
    tables.map(async ({ name }) => JSON.stringify(await sql.unsafe(`select t::text from ${name} t`))),
  );
  return texts.join('\n');
}

/** The encodings of a secret: plain, escaped, base64 and hexadecimal; for a token its bytes as well. */
function formsOf(secret: string): string[] {
  const written = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    written.toString('base64').replace(/=+$/, ''),
    written.toString('base64url'),
    written.toString('hex'),
    ...(/^[\w-]{43}$/.test(secret) ? bytesOf(Buffer.from(secret, 'base64url')) : []),
  ];
}

function bytesOf(token: Buffer): string[] {
  return [token.toString('hex'), token.toString('base64').replace(/=+$/, '')];
}
