import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { databaseForTest } from '#testing/database-for-test.ts';
import { type HubLogout, updateHubAway, updateHubReceivers } from './hub-logout.ts';

it('attempts that fail side by side count once, and none waits for another for ever', async () => {
  const database = await databaseForTest();
  const { sql } = database;
  await updateHubReceivers(sql, ['crm']);
  const waiting = await sql<HubLogout[]>`
    insert into hub_logout (audience, sid, user_id) select 'crm', ${randomUUID()}, ${randomUUID()} from generate_series(1, 5)
    returning id::text, audience, sid, user_id as "userId", tries`;
  const pauses: (number | null)[] = [];
  for (let round = 0; round < 20; round += 1) {
    await sql`update hub_receiver set paused_until = '-infinity', failures = 0`;
    await sql`update hub_logout set waiting_since = null`;
    const away = { problem: 'down', now: new Date(), firstPause: 1000, longestPause: 60_000 };
    pauses.push(...(await Promise.all(waiting.map((one) => updateHubAway(sql, one, away)))));
  }
  expect(pauses.filter((pause) => pause !== null)).toEqual(Array.from({ length: 20 }, () => 1000));
  await database.close();
});
