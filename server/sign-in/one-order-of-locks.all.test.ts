import { beforeEach, expect, it } from 'vitest';
import { tokenHash } from '#server/secrets/token.ts';
import { addUser } from '#testing/accounts-for-test.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { codeNow, giveApp, halfSession, startTwoFactorAfresh, verifyByForm } from '#testing/two-factor-for-test.ts';
import { changeUser } from '../accounts/change-user.ts';
import { removeUser } from '../accounts/remove-user.ts';
import { signOutUser } from '../accounts/sign-out-user.ts';
import { hashPassword } from '../secrets/password-hash.ts';

// What two people do at once in one browser locks the same rows: sessions, then throttles, then devices
// (docs/decisions/0028). In another order PostgreSQL would end one of the two.

const portal = portalOfFile();
const other = otherInstanceOfFile(portal);
let browser: Record<string, string>;
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await addUser(portal, { username: 'carl', customers: ['plain'] });
  browser = cookiesOf(await portal.signIn('carl', testPassword));
  await portal.signIn('carl', 'slip of the finger', { cookies: browser });
});

/** Two requests that begin in this order; neither goes on before both wait for the browser's device or each other. */
async function atOnce<First, Second>(first: () => Promise<First>, second: () => Promise<Second>) {
  const device = tokenHash(browser['vestibule-device'] ?? '');
  const release = await holdRows(portal.sql, (sql) => sql`select from device where token_hash = ${device} for update`);
  const begun = first();
  await untilWaiting(portal.sql, 1);
  const both = Promise.all([begun, second()]);
  await untilWaiting(portal.sql, 2);
  await release();
  return await both;
}
const signIn = (username: string) => async () => await portal.signIn(username, testPassword, { cookies: browser });

it('two sign-ins in a browser that knows one of them', async () => {
  delete browser['vestibule-session'];
  const answers = await atOnce(
    signIn('pat'),
    async () => await other.signIn('carl', testPassword, { cookies: browser }),
  );
  for (const answer of answers) expect(cookiesOf(answer)['vestibule-session']).toBeDefined();
});

it('a sign-in where somebody else is signed in, and the change of that person’s password', async () => {
  const passwordHash = await hashPassword('Another-Harbour-42', null);
  const change = async () => await changeUser(other.pool, 'carl', { passwordHash }, portal.deps.now());
  const [answer, changed] = await atOnce(signIn('pat'), change);
  expect([answer.statusCode, changed.kind]).toEqual([303, 'changed']);
});

it('a sign-in where somebody else enters their code', async () => {
  const secret = await giveApp(portal, 'alice');
  const form = () => ({ code: codeNow(portal, secret) });
  browser = await halfSession(portal, 'alice');
  browser = { ...browser, ...cookiesOf(await verifyByForm(portal, form(), browser)) };
  await portal.send({ method: 'POST', url: '/portal/logout', cookies: browser });
  portal.wait(120_000);
  browser = { ...browser, ...(await halfSession(portal, 'alice', { cookies: browser })) };
  const [answer, verified] = await atOnce(signIn('pat'), async () => await verifyByForm(portal, form(), browser));
  expect([answer.statusCode, verified.statusCode]).toEqual([303, 303]);
});

/** Two sessions of one browser, whose button was pressed twice; first the one that is found second. */
async function twoSessions() {
  for (;;) {
    await portal.sql`delete from session`;
    const tokens: string[] = [];
    for (let press = 0; press < 2; press += 1) {
      const answer = await portal.signIn('carl', testPassword, { cookies: browser });
      tokens.push(cookiesOf(answer)['vestibule-session'] ?? '');
    }
    const [first, second] = tokens.map(tokenHash) as [Buffer, Buffer];
    if (Buffer.compare(first, second) > 0) return { lower: second, session: tokens[1] ?? '' };
  }
}

it.each<[string, () => Promise<unknown>]>([
  ['signs them out', async () => await signOutUser(other.pool, 'carl', portal.deps.now())],
  ['deactivates them', async () => await changeUser(other.pool, 'carl', { active: false }, portal.deps.now())],
  ['removes them', async () => await removeUser(other.pool, 'carl', portal.deps.now())],
])('a sign-out while an operator %s', async (_, operator) => {
  await portal.send({ method: 'POST', url: '/portal/logout', cookies: browser });
  delete browser['vestibule-session'];
  portal.wait(120_000);
  const { lower, session } = await twoSessions();
  const release = await holdRows(portal.sql, (sql) => sql`select from session where token_hash = ${lower} for update`);
  const cookies = { ...browser, 'vestibule-session': session };
  const signOut = portal.send({ method: 'POST', url: '/portal/logout', cookies });
  await untilWaiting(portal.sql, 1);
  const both = Promise.all([signOut, operator()]);
  await untilWaiting(portal.sql, 2);
  await release();
  expect((await both)[0].statusCode).toBe(303);
  expect(await portal.sql`select from session`).toEqual([]);
});
