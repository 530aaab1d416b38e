import { beforeEach, expect, it } from 'vitest';
import {
  accountEvents,
  mailKinds,
  postAccount,
  sessionIdOf,
  signedIn,
  startAccountAfresh,
} from '#test/support/account-page-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { minute } from '../limits.ts';

// What somebody can do again and again, without a proof, fills no queue with its emails: other people's codes wait there.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

it('ending sessions again and again ends each, and sends ten emails and then some an hour', async () => {
  const cookies = await signedIn(portal, 'alice');
  const session = await sessionIdOf(portal, cookies);
  const endNext = async () => {
    await signedIn(portal, 'alice');
    const [row] = await portal.sql<
      { id: string }[]
    >`select id from session order by created_at desc, xmin::text::bigint desc limit 1`;
    const answer = await postAccount(portal, 'sessions', { do: 'end', id: row?.id ?? '', session }, cookies);
    expect(answer.headers.location).toContain('notice=sessionEnded');
  };
  for (let count = 0; count < 13; count += 1) await endNext();
  expect(await portal.sql`select from session`).toHaveLength(1);
  expect(await accountEvents(portal)).toEqual(Array(13).fill('own-sessions-ended'));
  expect(await mailKinds(portal)).toEqual(Array(10).fill('sessionsEnded'));
  portal.wait(5 * minute);
  for (let count = 0; count < 3; count += 1) await endNext();
  expect(await mailKinds(portal)).toEqual(Array(11).fill('sessionsEnded'));
});
