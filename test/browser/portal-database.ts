import { randomUUID } from 'node:crypto';
import type { Database } from '#server/database/database.ts';
import { openStorage } from '#server/database/open-storage.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

// What nobody waits for, what no interface can cause, and what would take a process each time.

/** Runs work on a portal's database. */
export async function onDatabaseOf<T>({ env }: PortalUnderTest, work: (sql: Database) => PromiseLike<T>): Promise<T> {
  const place = { databaseUrl: env.DATABASE_URL ?? null, dataFolder: env.VESTIBULE_DATA as string };
  const { sql, close } = await openStorage(place, { info() {}, warn() {} });
  try {
    return await work(sql);
  } finally {
    await close();
  }
}

/** Work on the rows of a user, given by their id. */
const ofUser =
  <More extends unknown[]>(work: (sql: Database, id: string, ...more: More) => PromiseLike<unknown>) =>
  (portal: PortalUnderTest, username: string, ...more: More): Promise<void> =>
    onDatabaseOf(portal, async (sql) => {
      const [user] = await sql<{ id: string }[]>`select id from portal_user where username = ${username}`;
      if (!user) throw new Error(`no user ${username}`);
      await work(sql, user.id, ...more);
    });

/** Ends a user's sessions, half ones too, by their age. */
export const sessionsEnd = ofUser(
  (sql, id) => sql`update session set ends_at = now() - interval '1 second' where user_id = ${id}`,
);

/** Moves the code of a user's last sign-in into the past. */
export const appCodeIsPast = ofUser((sql, id) => sql`update totp set last_step = last_step - 10 where user_id = ${id}`);

/** Lets a user ask for another emailed code. */
export const sendWaitIsOver = ofUser(
  (sql, id) => sql`
    update email_code set made_at = made_at - interval '31 seconds'
    where session_id in (select id from session where user_id = ${id})`,
);

/** Forgets the recent codes of all users. */
export const codeMailsAreLongAgo = (portal: PortalUnderTest) =>
  onDatabaseOf(portal, (sql) => sql`delete from throttle where key like 'code-mail:%'`);

/** Hides a user's recovery codes. */
export const recoveryCodesAreHidden = ofUser((sql, id) => sql`delete from shown_recovery_codes where user_id = ${id}`);

/** Makes a user's sign-in too old to set up an app, or that many minutes old. */
export const signInIsOld = ofUser(
  (sql, id, minutes: number = 11) => sql`
    update session set proven_at = now() - make_interval(mins => ${minutes}) where user_id = ${id}`,
);

/** Makes a user's last sign-in come from a provider, which speaks for only part of the account. */
export const signInWasByProvider = ofUser(async (sql, id) => {
  await sql`
    insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
    select 'elsewhere', 'Elsewhere', id, 'oidc', '{}', now() from customer where key = 'mails'
    on conflict do nothing`;
  await sql`
    update session set proof = 'provider', proven_at = now(),
      connection_id = (select id from sso_connection where key = 'elsewhere')
    where user_id = ${id}`;
});

/** Has a browser of a user remembered, as if at an earlier sign-in. */
export const deviceIsRemembered = ofUser(
  (sql, id, browser: string) => sql`
    insert into remembered_device (token_hash, user_id, browser, address, made_at, last_used_at, ends_at, factor)
    values (sha256(gen_random_uuid()::text::bytea), ${id}, ${browser}, '203.0.113.9', now() - interval '5 days',
      now() - interval '1 day', now() + interval '25 days', 'app')`,
);

/** Has a user signed in elsewhere, too. */
export const sessionIsElsewhere = ofUser(
  (sql, id, browser: string) => sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, browser, created_at, last_seen_at, ends_at)
    select sha256(gen_random_uuid()::text::bytea), user_id, 'full', customer_ids, '2001:db8::7', ${browser},
      now() - interval '2 hours', now() - interval '1 minute', ends_at
    from session where user_id = ${id} and stage = 'full' limit 1`,
);

/** The id of a passkey in every list of screens. */
export const keptPasskey = '5f0c1f6e-3c0b-4b7e-9a55-0d6f1f2a7c31';

/** Gives a user passkeys that no browser has, for pages that show them: one with a name that is long and has no spaces. */
export const passkeysAreKept = ofUser(
  (sql, id, keptId: string = randomUUID()) => sql`
    insert into passkey (id, user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, name,
      made_at, last_used_at)
    select kept.id, ${id}::uuid, sha256(kept.id::text::bytea), sha256(''), 'localhost', 0, true, true,
      '00000000-0000-0000-0000-000000000000', kept.name, kept.made_at, kept.last_used_at
    from (values
      (${keptId}::uuid, ${'Betriebsstättenzugangsschlüsselverwaltungsprogramm'}, now() - interval '40 days', now()),
      (gen_random_uuid(), 'Phone', now() - interval '1 day', null)
    ) as kept (id, name, made_at, last_used_at)`,
);
