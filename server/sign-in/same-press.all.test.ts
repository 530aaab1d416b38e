import { expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { cookiesOf, type PortalForTest, testPassword } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { startTwoFactorAfresh, verdict, verify } from '#testing/two-factor-for-test.ts';

// Two instances on one database, each with its own pool: the presses of one button may meet at both.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const another = otherInstanceOfFile(portal);

/** Has presses of one button stored at the same moment: all have given the right password and wait for their user. */
async function pressAtOnce(presses: readonly PortalForTest[]) {
  const release = await holdRows(another.pool, (sql) => sql`select from portal_user where username = 'bob' for update`);
  const answers = presses.map((at) => at.signIn('bob', testPassword));
  await untilWaiting(another.pool, presses.length);
  await release();
  return await Promise.all(answers);
}

/** Of the sign-ins, which still wait for their code; each is asked for the one that was sent. */
async function whichWorks(answers: Awaited<ReturnType<typeof pressAtOnce>>): Promise<unknown[]> {
  portal.wait(limits.samePress + 1);
  await portal.workOff();
  expect(portal.mails).toHaveLength(1);
  const code = portal.mails[0]?.text.match(/#(\d{6})$/)?.[1];
  const verdicts: unknown[] = [];
  for (const answer of answers) verdicts.push(verdict(await verify(portal, code, cookiesOf(answer))));
  return verdicts;
}

it('EM-04 two sign-in presses at the same moment, over two instances, leave the half session that the browser keeps', async () => {
  for (let round = 0; round < 8; round += 1) {
    await startTwoFactorAfresh(portal);
    portal.wait(1000);
    // The second press comes a millisecond later, to the other instance.
    another.wait(portal.deps.now().getTime() + 1 - another.deps.now().getTime());
    const answers = await pressAtOnce([portal, another]);
    expect(await another.pool`select from session`).toHaveLength(1);
    expect(await whichWorks(answers)).toEqual([[401, 'signInExpired'], true]);
  }
});

it('EM-04 even in the same millisecond, or four of them, one is left with its mail', async () => {
  for (let round = 0; round < 8; round += 1) {
    await startTwoFactorAfresh(portal);
    another.wait(portal.deps.now().getTime() - another.deps.now().getTime());
    const answers = await pressAtOnce(round % 2 ? [portal, another, portal, another] : [portal, another]);
    expect(await another.pool`select from session`).toHaveLength(1);
    const verdicts = await whichWorks(answers);
    expect(verdicts.filter((verdict) => verdict === true)).toHaveLength(1);
    expect(await another.pool`select from session where stage = 'full'`).toHaveLength(1);
  }
});
