import { randomUUID } from 'node:crypto';
import type { Database } from '#server/database/database.ts';
import { openStorage } from '#server/database/open-storage.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

const log = { info() {}, warn() {} };

/** Runs work on a portal's database: for what no interface can cause, or what would take a process each time. */
export async function onDatabaseOf<T>({ env }: PortalUnderTest, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const place = { databaseUrl: env.DATABASE_URL ?? null, dataFolder: env.VESTIBULE_DATA as string };
  const { sql, close } = await openStorage(place, log);
  try {
    return await work(sql);
  } finally {
    await close();
  }
}

// Simulates the passage of time in the database, so that nobody waits for it.

/** Ends a user's half sessions. */
export async function halfSessionEnds(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set ends_at = now() - interval '1 second'
      where stage = 'half' and user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Moves the code of a user's last sign-in into the past. */
export async function appCodeIsPast(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update totp set last_step = last_step - 10
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Lets a user request another emailed code. */
export async function sendWaitIsOver(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update email_code set made_at = made_at - interval '31 seconds' where session_id in
        (select id from session where user_id = (select id from portal_user where username = ${username}))`,
  );
}

/** Clears the recent codes of all users. */
export async function codeMailsAreLongAgo(portal: PortalUnderTest): Promise<void> {
  await onDatabaseOf(portal, (sql) => sql`delete from throttle where key like 'code-mail:%'`);
}

/** Hides a user's recovery codes, and marks all but that many as used. */
export async function recoveryCodesAreUsed(portal: PortalUnderTest, username: string, left: number): Promise<void> {
  await onDatabaseOf(portal, async (sql) => {
    const [user] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
    const id = user?.id ?? null;
    await sql`delete from shown_recovery_codes where user_id = ${id}`;
    await sql`
      update recovery_code set used_at = now() where user_id = ${id} and code_hash not in
        (select code_hash from recovery_code where user_id = ${id} limit ${left})`;
  });
}

/** Makes a user's account wait that many seconds for the next emailed code, after too many. */
export async function codeMailWaits(portal: PortalUnderTest, username: string, seconds: number): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      select 'code-mail:' || id, 12, now(), now() + make_interval(secs => ${seconds}), true
      from portal_user where username = ${username}
      on conflict (key) do update set failures = excluded.failures, blocked_until = excluded.blocked_until`,
  );
}

/** Makes a user's sign-in too old to set up an app. */
export async function signInIsOld(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set proven_at = now() - interval '11 minutes'
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** When a user's session has proven a code: just now, or too long ago. */
export async function sessionHasProven(
  portal: PortalUnderTest,
  username: string,
  when: 'just now' | 'long ago',
): Promise<void> {
  const age = when === 'long ago' ? '11 minutes' : '0';
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set proof = 'code', proven_at = now() - ${age}::interval
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Gives a user a new username, by which nobody signs in. */
export async function renameTo(portal: PortalUnderTest, username: string, next: string): Promise<void> {
  await onDatabaseOf(portal, (sql) => sql`update portal_user set username = ${next} where username = ${username}`);
}

/** Has a browser of a user remembered, as if at an earlier sign-in. */
export async function deviceIsRemembered(portal: PortalUnderTest, username: string, browser: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into remembered_device (token_hash, user_id, browser, address, made_at, last_used_at, ends_at, factor)
      select sha256(gen_random_uuid()::text::bytea), id, ${browser}, '203.0.113.9', now() - interval '5 days',
        now() - interval '1 day', now() + interval '25 days', 'app'
      from portal_user where username = ${username}`,
  );
}

/** Has a user signed in elsewhere, too. */
export async function sessionIsElsewhere(portal: PortalUnderTest, username: string, browser: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into session (token_hash, user_id, stage, customer_ids, address, browser, created_at, last_seen_at, ends_at)
      select sha256(gen_random_uuid()::text::bytea), user_id, 'full', customer_ids, '2001:db8::7', ${browser},
        now() - interval '2 hours', now() - interval '1 minute', ends_at
      from session where user_id = (select id from portal_user where username = ${username}) and stage = 'full' limit 1`,
  );
}

/** Ends a user's sessions by age. */
export async function sessionsEnd(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set ends_at = now() - interval '1 second'
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Makes a user's last sign-in come from a provider, which speaks for only part of the account. */
export async function signInWasByProvider(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      with made as (
        insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
        select 'elsewhere', 'Elsewhere', id, 'oidc', '{}', now() from customer where key = 'mails'
        on conflict (key) do update set name = excluded.name returning id
      )
      update session set connection_id = (select id from made), proof = 'provider', proven_at = now()
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Gives a user another user's password, or none. */
export async function passwordIsThatOf(portal: PortalUnderTest, username: string, other: string | null): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update portal_user set password_hash = (select password_hash from portal_user where username = ${other})
      where username = ${username}`,
  );
}

/** The id of a passkey in every list of screens. */
export const keptPasskey = '5f0c1f6e-3c0b-4b7e-9a55-0d6f1f2a7c31';

/** Gives a user passkeys that no browser has, for pages that show them: one with a name that is long and has no spaces. */
export async function passkeysAreKept(
  portal: PortalUnderTest,
  username: string,
  id: string = randomUUID(),
): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      insert into passkey (id, user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name,
        made_at, last_used_at)
      select kept.id, u.id, sha256(kept.id::text::bytea), sha256(''), 'localhost', 0, true, true,
        '00000000-0000-0000-0000-000000000000', kept.name, kept.made_at, kept.last_used_at
      from portal_user u, (values
        (${id}::uuid, ${'Betriebsstättenzugangsschlüsselverwaltungsprogramm'}, now() - interval '40 days', now()),
        (gen_random_uuid(), 'Phone', now() - interval '1 day', null)
      ) as kept (id, name, made_at, last_used_at)
      where u.username = ${username}`,
  );
}
