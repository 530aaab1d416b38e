import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '#server/database/database.ts';
import { median, report, reportRatio } from './figures.ts';
import { interleaved, type Load, rate, signedInCookie } from './rates.ts';
import { startPortal, startScript } from './servers.ts';

const few = 1000;
const many = 1_000_000;
const atOnce = 20_000;

/**
 * Requests through the gate per second, against a bare Fastify proxy on the same library in front of the same hub; then with
 * many sessions in the database, against few.
 */
export async function compareGate(dataFolder: string, sql: Database, load: Load): Promise<void> {
  const hub = await startScript('bench/baselines.ts', 'hub');
  const config = join(dataFolder, 'gate.config.json');
  await writeFile(config, JSON.stringify({ hub: { url: hub.origin, paths: ['/app'] } }));
  const portal = await startPortal(dataFolder, { VESTIBULE_CONFIG: config });
  const bare = await startScript('bench/baselines.ts', 'proxy', hub.origin);
  await sql`delete from session`;
  await addSessions(sql, few);
  const cookie = await signedInCookie(portal, sql);
  const gate = () => rate(portal.origin, [{ path: '/app/page', headers: { cookie } }], load.seconds, 200);
  const { ours, theirs } = await interleaved(load, {
    ours: gate,
    theirs: () => rate(bare.origin, [{ path: '/app/page', headers: { cookie } }], load.seconds, 200),
  });
  reportRatio('requests through the gate, 8 connections', { ours, theirs, whose: 'a bare proxy', least: 0.7 });
  await addSessions(sql, many - few);
  await gate();
  const crowded: number[] = [];
  for (let round = 0; round < load.rounds; round += 1) crowded.push(await gate());
  const ratio = median(crowded) / median(ours);
  const figure = `${ratio.toFixed(2)} of those with ${few} (${Math.round(median(crowded))} to ${Math.round(median(ours))})`;
  report(`the same with ${many} sessions`, figure, '0.80 to 1.20', ratio >= 0.8 && ratio <= 1.2);
  await sql`truncate session`;
  await Promise.all([portal.stop(), bare.stop(), hub.stop()]);
}

/** Adds sessions of the users by turns, as sign-ins would leave them. */
async function addSessions(sql: Database, count: number): Promise<void> {
  // A statement has a limited time.
  for (let added = 0; added < count; added += atOnce) await insertSessions(sql, Math.min(atOnce, count - added));
  await sql`analyze session`;
}

async function insertSessions(sql: Database, count: number): Promise<void> {
  const now = new Date();
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
    select sha256(convert_to(gen_random_uuid()::text, 'utf8')), u.id, 'full', u.customer_ids, '127.0.0.1', ${now}, ${now},
      ${now}::timestamptz + interval '12 hours'
    from generate_series(1, ${count}) as made (place)
    join (
      select portal_user.id, array_agg(customer_id) as customer_ids, row_number() over (order by portal_user.id) as place
      from portal_user join membership on user_id = portal_user.id group by portal_user.id
    ) u on u.place = 1 + made.place % 100`;
}
