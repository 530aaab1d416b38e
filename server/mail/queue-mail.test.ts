import { expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { askForReset, startAfresh } from '#test/support/reset-for-test.ts';
import { changeUser } from '../accounts/users.ts';
import { jobsOf } from '../jobs/job.ts';
import { resetQueue } from '../sign-in/forgotten.ts';

const portal = portalOfFile({ each: startAfresh });

/** Requests a link whose email stays queued until the test sends it. */
async function queueLink(username: string): Promise<void> {
  await askForReset(portal, `${username}@acme.test`);
  await jobsOf(portal.deps, resetQueue(portal.deps))();
}

it('PR-23 the email of a link that is over meanwhile is dropped unsent', async () => {
  for (const username of ['alice', 'bob', 'carol']) await queueLink(username);
  await changeUser(portal.sql, 'alice', { email: 'other@acme.test' }, portal.by());
  await portal.sql`update reset_link set used_at = made_at where user_id = (select id from portal_user where username = 'bob')`;
  await portal.sql`delete from portal_user where username = 'carol'`;
  await portal.workOff();
  expect(portal.mails.filter(({ text }) => text.includes('hash='))).toEqual([]);
  expect(await portal.sql`select from job`).toHaveLength(0);
});

it("LG-01 a token is sealed to its email's row: a copy in another row is not sent", async () => {
  for (const username of ['alice', 'bob']) await queueLink(username);
  await portal.sql`
    update job set sealed_token = a.sealed_token, token_hash = a.token_hash
    from (select * from job where payload->>'recipient' = 'alice@acme.test') a
    where job.payload->>'recipient' = 'bob@acme.test'`;
  await portal.workOff();
  expect(portal.mails.map(({ recipient }) => recipient)).toEqual(['alice@acme.test']);
  expect(await portal.sql`select payload->>'recipient' as recipient, tries, problem from job`).toEqual([
    { recipient: 'bob@acme.test', tries: 1, problem: 'no secret of this instance can open its link' },
  ]);
});
