import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { askForReset, changeTo, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import {
  codeByMail,
  codeNow,
  halfSession,
  recoveryCodesShown,
  registerApp,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await emptyTables(portal, 'audit_event', 'throttle');
});

async function events() {
  return await portal.sql`
    select e.event, e.reason, e.username, u.username as account, host(e.address) as address, e.at, e.request_id, e.reference,
      e.steps::text as steps
    from audit_event e left join portal_user u on u.id = e.user_id order by e.id`;
}

/** The events of one request, without values that vary between runs. */
async function recorded(request: () => Promise<unknown>): Promise<unknown[]> {
  await emptyTables(portal, 'audit_event');
  await request();
  const rows = await events();
  for (const { at, address, request_id } of rows) {
    expect(at).toEqual(portal.deps.now());
    expect(address).toBe(testAddress);
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
  }
  return rows.map(({ event, reason, username, account }) => [event, reason, username, account]);
}

const refused = (reason: string, name: string | null) => [['sign-in-refused', reason, name, name]];

describe('LG-05 what is recorded', () => {
  it('LG-05 every way a sign-in ends: what, why, who, from where, when', async () => {
    const signIn = (name: string, password = 'wrong') => recorded(() => portal.signIn(name, password));
    expect(await signIn('bob', testPassword)).toEqual([['signed-in', null, 'bob', 'bob']]);
    expect(await signIn('BOB@acme.test')).toEqual(refused('wrong-password', 'bob'));
    expect(await signIn("' or 1=1--")).toEqual(refused('unknown-user', null));
    expect(await signIn('dave', testPassword)).toEqual(refused('inactive', 'dave'));
    expect(await signIn('erin', testPassword)).toEqual(refused('no-customer', 'erin'));
    expect(await signIn('sso-only', testPassword)).toEqual(refused('no-password', 'sso-only'));
    expect(await signIn('carol', testPassword)).toEqual(refused('network', 'carol'));
    for (let guess = 0; guess < 6; guess += 1) await signIn('alice', `guess ${guess}`);
    expect(await signIn('alice', testPassword)).toEqual(refused('throttled-account', 'alice'));
  });

  it('LG-05 a refusal carries the reference that the visitor sees, and the steps that led to it', async () => {
    const answer = await portal.signIn('dave', testPassword);
    const [event] = await events();
    const notice = cookiesOf(answer)['vestibule-next-page'] ?? '';
    const { reference } = JSON.parse(Buffer.from(notice, 'base64url').toString()) as { reference: string };
    expect(event?.reference).toBe(reference);
    expect(JSON.parse(event?.steps as string)).toContainEqual({ step: 'active', outcome: 'no' });
  });

  it('LG-05 CS-01 a request from another site, and a sign-out', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await recorded(() => portal.signIn('bob', testPassword, { headers }))).toEqual([
      ['request-refused', null, null, null],
    ]);
    const [{ steps } = { steps: '' }] = await events();
    expect(steps).toContain('POST /portal/performlogin from https://evil.example');
    const cookies = cookiesOf(await portal.signIn('bob', testPassword));
    expect(await recorded(() => portal.send({ method: 'POST', url: '/portal/logout', cookies }))).toEqual([
      ['signed-out', null, 'bob', 'bob'],
    ]);
  });

  it('LG-05 every request for a link: its outcome, whose name it was, and the originating request', async () => {
    const ask = (name: string) =>
      recorded(async () => {
        await askForReset(portal, `${name}@acme.test`);
        await portal.workOff();
      });
    const outcome = (reason: string, name: string | null) => [['password-forgotten', reason, name, name]];
    expect(await ask('alice')).toEqual(outcome('link-mailed', 'alice'));
    const [{ request_id } = { request_id: '-' }] = await events();
    expect(portal.logs()).toMatch(new RegExp(`"reqId":"${request_id}".*"path":"/portal/password/forgotten"`));
    expect(await ask('sso-only')).toEqual(outcome('single-sign-on-mailed', 'sso-only'));
    expect(await ask('nobody')).toEqual(outcome('unknown-user', null));
    expect(await ask('dave')).toEqual(outcome('no-reset-mailed', 'dave'));
    const flood = async () => {
      for (let n = 0; n < limits.throttle.address.freeFailures; n += 1) await askForReset(portal, 'nobody@acme.test');
    };
    expect(await recorded(flood)).toEqual(outcome('throttled-address', null));
  });

  it('LG-05 every change by a link, with the visible reference and what was known about link and account', async () => {
    const token = await linkFor(portal, 'alice');
    const change = (hash: string, password: string) => recorded(() => changeTo(portal, hash, password));
    const steps = async () => JSON.parse((await events())[0]?.steps as string) as unknown;
    expect(await change('x', newPassword)).toEqual([['password-change-refused', '4', null, null]]);
    expect(await steps()).toEqual([{ step: 'link', outcome: 'unknown or malformed' }]);
    expect(await change(token, 'lanternq')).toEqual([['password-change-refused', '1', 'alice', 'alice']]);
    expect(await steps()).toContainEqual({
      step: 'new password',
      outcome: 'it is too weak: make it longer, or mix lower-case and upper-case letters, digits and symbols',
    });
    const ofCarol = await linkFor(portal, 'carol');
    expect(await change(ofCarol, newPassword)).toEqual([['password-change-refused', 'network', 'carol', 'carol']]);
    const answer = await changeTo(portal, ofCarol, newPassword);
    const notice = Buffer.from(cookiesOf(answer)['vestibule-next-page'] ?? '', 'base64url').toString();
    const [event] = await portal.sql`select reference from audit_event order by id desc limit 1`;
    expect(JSON.parse(notice)).toEqual({ at: '/loginfail/ip', reference: event?.reference, username: '' });
    await portal.signIn('alice', testPassword);
    expect(await change(token, newPassword)).toEqual([['password-changed', null, 'alice', 'alice']]);
    expect(await steps()).toEqual([{ step: 'sessions ended', outcome: '1' }]);
    expect(await change(token, newPassword)).toEqual([['password-change-refused', '3', 'alice', 'alice']]);
  });

  it('LG-05 a second factor: requested, refused, ended, given by any method, removed', async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addCustomer(portal, 'mail', { twoFactor: 'email' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    await addUser(portal, { username: 'hugo', customers: ['mail'] });
    const of = (event: string, name = 'gwen') => [event, null, name, name];
    const lastSteps = async () => JSON.parse(((await events()).at(-1)?.steps as string) ?? '[]');
    let cookies = {};
    expect(await recorded(async () => (cookies = await halfSession(portal, 'gwen')))).toEqual([
      of('second-factor-asked'),
    ]);
    const { secret, cookies: full } = await registerApp(portal, cookies);
    expect(await lastSteps()).toEqual([{ step: 'second factor', outcome: 'app registered' }]);
    const { codes } = await recoveryCodesShown(portal, full);
    portal.wait(60_000);
    cookies = await halfSession(portal, 'gwen');
    const wrong = wrongCodes(portal, secret, limits.codeTries);
    expect(await recorded(() => verify(portal, wrong[0], cookies))).toEqual([of('code-refused')]);
    expect(await lastSteps()).toEqual([{ step: 'code', outcome: 'try 1 of 5, app' }]);
    for (const code of wrong.slice(1, -1)) await verify(portal, code, cookies);
    const end = await recorded(() => verify(portal, wrong.at(-1), cookies));
    expect(end).toEqual([of('code-refused'), of('second-factor-ended')]);
    expect(await recorded(() => verify(portal, codeNow(portal, secret), cookies))).toEqual([]);

    cookies = await halfSession(portal, 'gwen');
    const given = await recorded(
      async () =>
        (cookies = cookiesOf(await verify(portal, codeNow(portal, secret), cookies, { query: '?remember=true' }))),
    );
    expect(given).toEqual([of('signed-in')]);
    expect(await lastSteps()).toEqual([
      { step: 'second factor', outcome: 'app' },
      { step: 'device', outcome: 'remembered' },
    ]);
    expect(await recorded(() => portal.signIn('gwen', testPassword, { cookies }))).toEqual([of('signed-in')]);
    expect(await lastSteps()).toContainEqual({ step: 'second factor', outcome: 'remembered device' });
    cookies = await halfSession(portal, 'gwen');
    expect(await recorded(() => verify(portal, codes?.[0], cookies))).toEqual([of('signed-in')]);
    expect(await lastSteps()).toEqual([{ step: 'second factor', outcome: 'recovery code' }]);
    for (const outcome of ['email registered', 'email code']) {
      const half = await halfSession(portal, 'hugo');
      const code = await codeByMail(portal, 'hugo');
      expect(await recorded(() => verify(portal, code, half))).toEqual([of('signed-in', 'hugo')]);
      expect(await lastSteps()).toEqual([{ step: 'second factor', outcome }]);
    }
    const bob = cookiesOf(await portal.signIn('bob', testPassword));
    expect(await recorded(() => registerApp(portal, bob))).toEqual([of('two-factor-registered', 'bob')]);
  });
});
