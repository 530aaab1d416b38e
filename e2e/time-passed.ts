import { onDatabaseOf } from './portal-database.ts';
import type { PortalUnderTest } from './portal-under-test.ts';

// Lets time pass in the database, so that nobody waits for it.

/** The half-signed-in sessions of somebody have ended. */
export async function halfSessionEnds(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set ends_at = now() - interval '1 second'
      where stage = 'half' and user_id = (select id from portal_user where username = ${username})`,
  );
}

/** The code that somebody's app showed at the last sign-in is long past. */
export async function appCodeIsPast(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update totp set last_step = last_step - 10
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Somebody may request another emailed code. */
export async function sendWaitIsOver(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update email_code set made_at = made_at - interval '31 seconds'
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** No code was sent to anybody lately. */
export async function codeMailsAreLongAgo(portal: PortalUnderTest): Promise<void> {
  await onDatabaseOf(portal, (sql) => sql`delete from throttle where key like 'code-mail:%'`);
}

/** Somebody's recovery codes are no longer shown, and all but that many are used. */
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

/** Somebody's account had so many emailed codes that the next one has to wait that many seconds. */
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

/** Somebody signed in too long ago to set up an app. */
export async function signInIsOld(portal: PortalUnderTest, username: string): Promise<void> {
  await onDatabaseOf(
    portal,
    (sql) => sql`
      update session set created_at = now() - interval '11 minutes'
      where user_id = (select id from portal_user where username = ${username})`,
  );
}

/** Somebody has another username, by which nobody signs in. */
export async function renameTo(portal: PortalUnderTest, username: string, next: string): Promise<void> {
  await onDatabaseOf(portal, (sql) => sql`update portal_user set username = ${next} where username = ${username}`);
}
