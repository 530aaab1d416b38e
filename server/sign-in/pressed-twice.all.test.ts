import { beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { cookiesOf, type TestRequest, testPassword } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { type Browser, giveApp, signInWithApp, startTwoFactorAfresh } from '#testing/two-factor-for-test.ts';

// Without JavaScript nothing disables the button: its second press leaves with the cookies of the first, whose response the
// browser drops. Two instances on one database, each with its own pool: the presses may meet at both.
const portal = portalOfFile({ each: startTwoFactorAfresh });
const another = otherInstanceOfFile(portal);
beforeEach(async () => {
  await portal.sql`update customer set new_device_mail = true`;
});

const hub = '/portal/portal.html';
const wait = (time: number) => {
  portal.wait(time);
  another.wait(time);
};
/** A press; returns where it leads and the cookies that a browser has which read this answer only. */
async function press(username: string, cookies: Browser, more: Partial<TestRequest> = {}, at = portal) {
  const answer = await at.signIn(username, testPassword, { cookies, ...more });
  return { to: answer.headers.location?.split('?')[0], cookies: { ...cookies, ...cookiesOf(answer) } };
}
const tokensOf = ({ cookies }: Awaited<ReturnType<typeof press>>) =>
  ['session', 'device', 'remembered'].map((name) => cookies[`vestibule-${name}`]);
const counts = async () => {
  const [row] = await portal.sql<Record<string, number>[]>`
    select (select count(*)::int from session) as sessions, (select count(*)::int from device) as devices,
      (select count(*)::int from mail where kind = 'newDevice') as mails,
      (select count(*)::int from audit_event where event = 'signed-in') as events,
      (select count(*)::int from throttle where key like 'account:%' or key like 'device:%') as waits`;
  return row;
};
const once = { sessions: 1, devices: 1, mails: 1, events: 1, waits: 0 };

/** A browser that is remembered for alice's app, signed out since. */
async function rememberedBrowser(): Promise<Browser> {
  const cookies = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'), { query: '?remember=true' });
  await emptyTables(portal, 'session', 'audit_event', 'mail');
  const { 'vestibule-remembered': remembered = '', 'vestibule-device': device = '' } = cookies;
  wait(limits.sameCodePress);
  return { 'vestibule-remembered': remembered, 'vestibule-device': device };
}

it('MF-15 in a remembered browser neither press is asked for a code', async () => {
  const held = await rememberedBrowser();
  const first = await press('alice', held);
  wait(limits.sameCodePress - 1);
  const second = await press('alice', held);
  expect([first.to, second.to]).toEqual([hub, hub]);
  expect(tokensOf(second)).toEqual(tokensOf(first));
  expect(await counts()).toEqual({ ...once, mails: 0 });
  // Whichever answer the browser reads, it is remembered next time.
  wait(limits.sameCodePress);
  expect((await press('alice', second.cookies)).to).toBe(hub);
});

it('MF-15 also at the same moment, over two instances', async () => {
  const held = await rememberedBrowser();
  const release = await holdRows(
    another.pool,
    (sql) => sql`select from portal_user where username = 'alice' for update`,
  );
  const presses = [press('alice', held), press('alice', held, {}, another)];
  await untilWaiting(another.pool, 2);
  await release();
  const [first, second] = await Promise.all(presses);
  expect([first?.to, second?.to]).toEqual([hub, hub]);
  expect(tokensOf(second as never)).toEqual(tokensOf(first as never));
  expect(await counts()).toEqual({ ...once, mails: 0 });
});

it('MF-15 a copied token is no second press from another address or browser, or once the press is over', async () => {
  const held = await rememberedBrowser();
  expect((await press('alice', held)).to).toBe(hub);
  const others: [Browser, Partial<TestRequest>][] = [
    [held, { from: '203.0.113.66' }],
    [held, { headers: { 'user-agent': 'Another/1.0' } }],
    [{ 'vestibule-remembered': held['vestibule-remembered'] ?? '' }, {}],
    [{ ...held, 'vestibule-signed-out': 'A'.repeat(43) }, {}],
  ];
  for (const [cookies, more] of others) expect((await press('alice', cookies, more)).to).toBe('/portal/twoFactor');
  wait(limits.sameCodePress);
  expect((await press('alice', held)).to).toBe('/portal/twoFactor');
});

it('SE-02 it is no second press after a sign-out', async () => {
  const held = await rememberedBrowser();
  const first = await press('alice', held);
  const out = await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: first.cookies });
  const left = { ...first.cookies, ...cookiesOf(out), ...held, 'vestibule-session': '' };
  expect((await press('alice', left)).to).toBe('/portal/twoFactor');
});

it('BF-01 the second press needs the right password like any other', async () => {
  const held = await rememberedBrowser();
  await press('alice', held);
  const wrong = await portal.signIn('alice', 'wrong', { cookies: held });
  expect(wrong.headers.location).toContain('/portal/loginfail/default');
  expect(cookiesOf(wrong)['vestibule-session']).toBeUndefined();
  await portal.sql`update portal_user set active = false`;
  expect((await press('alice', held)).to).toBe('/portal/loginfail/default');
});

it('SE-02 presses that wait for a code share nothing: each half session has a token of its own', async () => {
  const [first, second] = [await press('alice', {}), await press('alice', {})];
  expect(tokensOf(second)[0]).not.toBe(tokensOf(first)[0]);
});
