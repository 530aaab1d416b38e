import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { databaseForTest } from '#testing/database-for-test.ts';
import { runsAll } from '#testing/runs-all.ts';
import type { Connection } from './database.ts';
import { type HubLogout, takeOnHubLogout, updateHubAway, updateHubReceivers } from './hub-logout.ts';

it('attempts that fail side by side count once, and none waits for another for ever', async () => {
  const database = await databaseForTest();
  const { sql } = database;
  await updateHubReceivers(sql, ['crm']);
  const waiting = await sql<HubLogout[]>`
    insert into hub_logout (audience, sid, user_id) select 'crm', ${randomUUID()}, ${randomUUID()} from generate_series(1, 5)
    returning id::text, audience, sid, user_id as "userId", tries`;
  const pauses: (number | null)[] = [];
  const rounds = runsAll ? 20 : 2;
  for (let round = 0; round < rounds; round += 1) {
    await sql`update hub_receiver set paused_until = '-infinity', failures = 0`;
    await sql`update hub_logout set waiting_since = null`;
    const away = { problem: 'down', now: new Date(), firstPause: 1000, longestPause: 60_000 };
    pauses.push(...(await Promise.all(waiting.map((one) => updateHubAway(sql, one, away)))));
  }
  expect(pauses.filter((pause) => pause !== null)).toEqual(Array.from({ length: rounds }, () => 1000));
  await database.close();
});

it('the next one is found without reading those that are not due, however many wait', async () => {
  const database = await databaseForTest();
  const { sql } = database;
  const now = new Date();
  const due = { audiences: ['crm', 'reports'], now, until: new Date(now.getTime() + 60_000) };
  await updateHubReceivers(sql, due.audiences);
  // What hubs have refused waits for its time; what is due came after it.
  await sql`
    insert into hub_logout (audience, sid, user_id, send_after)
    select hub, gen_random_uuid(), gen_random_uuid(), case when n <= 20000 then ${now}::timestamptz + interval '1 hour' else '-infinity' end
    from unnest(${due.audiences}::text[]) as hub, generate_series(1, 20003) as n`;
  await sql`analyze hub_logout`;
  const plan = JSON.stringify(await takeOnHubLogout(explaining(sql), due));
  expect(plan).toContain('"Index Name":"hub_logout_by_turn"');
  expect(plan).not.toMatch(/"Rows Removed by Filter":[1-9]\d\d/);
  expect(plan).not.toContain('"Sort"');
  const ids: string[] = [];
  for (let taken = await takeOnHubLogout(sql, due); taken; taken = await takeOnHubLogout(sql, due)) ids.push(taken.id);
  expect(new Set(ids).size).toBe(5);
  await database.close();
});

/** Runs statements and returns how they were run. */
function explaining(sql: Connection): Connection {
  const explain = (strings: TemplateStringsArray, ...values: never[]) => {
    const [first = '', ...rest] = strings;
    const texts = [`explain (analyze, format json) ${first}`, ...rest];
    return sql(Object.assign(texts, { raw: texts }) as TemplateStringsArray, ...values);
  };
  return Object.assign(explain, sql) as unknown as Connection;
}
