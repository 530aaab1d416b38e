import { beforeEach, describe, expect, it } from 'vitest';
import { day } from '#server/limits.ts';
import {
  accountEvents,
  mailKinds,
  postAccount,
  signedIn,
  startAccountAfresh,
} from '#test/support/account-page-for-test.ts';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  recoveryCodesShown,
  signInWithApp,
  step,
} from '#test/support/two-factor-for-test.ts';
import { unlockUser } from '../accounts/act-on-user.ts';
import { resetTwoFactorLater } from '../accounts/reset-two-factor.ts';
import { changeUser } from '../accounts/users.ts';

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const firefox = { headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0' } };

/** Signed in with the app a moment ago, which is proof enough. */
async function withApp(): Promise<{ cookies: Browser; secret: string }> {
  const secret = await giveApp(portal, 'alice');
  const cookies = await signInWithApp(portal, 'alice', secret);
  portal.wait(step);
  return { cookies, secret };
}

/** The key of the next app, as the page shows it. */
async function nextSecret(cookies: Browser): Promise<string> {
  const { body } = await portal.send({ url: '/portal/account/app?do=replace', cookies });
  const shown = /class="secret"[^>]*>(.*?)<\/p>/s.exec(body)?.[1] ?? '';
  return shown.replace(/<[^>]*>|\s/g, '');
}

describe('the app', () => {
  it('is replaced once a code of the next one was entered: with new recovery codes, and other sessions ended', async () => {
    const { cookies, secret } = await withApp();
    const before = await giveRecoveryCodes(portal, 'alice');
    const other = await signInWithApp(portal, 'alice', secret);
    const next = await nextSecret(cookies);
    expect(await nextSecret(cookies)).toBe(next);
    const wrong = await postAccount(portal, 'app', { do: 'replace', code: codeNow(portal, secret, 1) }, cookies);
    expect(wrong.headers.location).toBe('/portal/account/app?do=replace&notice=codeWrong');
    const answer = await postAccount(portal, 'app', { do: 'replace', code: codeNow(portal, next) }, cookies);
    expect(answer.headers.location).toContain('/recovery-codes?redirectURL=');
    const { codes } = await recoveryCodesShown(portal, cookies);
    expect(codes).toHaveLength(10);
    expect(codes).not.toContain(before[0]);
    expect([await signedInAs(portal, cookies), await signedInAs(portal, other)]).toEqual(['alice', null]);
    portal.wait(step);
    expect(await signedInAs(portal, await signInWithApp(portal, 'alice', next))).toBe('alice');
    await expect(signInWithApp(portal, 'alice', secret)).rejects.toThrow();
    expect(await accountEvents(portal)).toEqual(['fresh-proof-refused wrong-code', 'app-replaced', 'code-refused']);
    expect(await mailKinds(portal)).toEqual(['appReplaced']);
  });

  it('is removed with its recovery codes and remembered devices; the next sign-in asks for no code', async () => {
    const { cookies, secret } = await withApp();
    await giveRecoveryCodes(portal, 'alice');
    const other = await signInWithApp(portal, 'alice', secret, { query: '?remember=true' });
    for (const notice of ['appRemoved', 'appRemoved']) {
      const answer = await postAccount(portal, 'app', { do: 'remove' }, cookies);
      expect(answer.headers.location).toBe(`/portal/account/app?notice=${notice}`);
      Object.assign(cookies, cookiesOf(answer));
    }
    const left =
      await portal.sql`select from totp union all select from recovery_code union all select from remembered_device`;
    expect(left).toHaveLength(0);
    expect([await signedInAs(portal, cookies), await signedInAs(portal, other)]).toEqual(['alice', null]);
    expect(await signedInAs(portal, await signedIn(portal, 'alice'))).toBe('alice');
    expect([await accountEvents(portal), await mailKinds(portal)]).toEqual([['app-removed'], ['appRemoved']]);
  });

  it('that a customer requires is not removed, also if it came to do so since the page was shown', async () => {
    const { cookies } = await withApp();
    await portal.sql`update customer set two_factor = 'app', active = true`;
    const answer = await postAccount(portal, 'app', { do: 'remove' }, cookies);
    expect(answer.headers.location).toContain('notice=notPossible');
    expect(await portal.sql`select from totp`).toHaveLength(1);
    const page = await portal.send({ url: '/portal/account/app', cookies });
    expect(page.body.includes('do=remove')).toBe(false);
  });
});

it('devices that are not asked are listed and forgotten, one or all; those of somebody else are not', async () => {
  const secret = await giveApp(portal, 'alice');
  const cookies = await signInWithApp(portal, 'alice', secret, { query: '?remember=true' });
  portal.wait(step);
  await signInWithApp(portal, 'alice', secret, { query: '?remember=true' });
  const ids = (await portal.sql<{ id: string }[]>`select id from remembered_device order by made_at`).map(
    ({ id }) => id,
  );
  const page = await portal.send({ url: '/portal/account/devices', cookies });
  for (const id of ids) expect(page.body.includes(`value="${id}"`)).toBe(true);
  const bob = await signedIn(portal, 'bob');
  await postAccount(portal, 'devices', { do: 'forget', id: ids[1] ?? '' }, bob);
  expect(await portal.sql`select from remembered_device`).toHaveLength(2);
  await postAccount(portal, 'devices', { do: 'forget', id: ids[1] ?? '' }, cookies);
  expect(await portal.sql`select id from remembered_device`).toEqual([{ id: ids[0] }]);
  await postAccount(portal, 'devices', { do: 'forgetAll' }, cookies);
  await postAccount(portal, 'devices', { do: 'forgetAll' }, cookies);
  expect(await portal.sql`select from remembered_device`).toHaveLength(0);
  expect(await accountEvents(portal)).toEqual(['own-devices-forgotten', 'own-devices-forgotten']);
  expect(await mailKinds(portal)).toEqual(['devicesForgotten', 'devicesForgotten']);
});

const sessionIdIn = async (name: string) =>
  (
    await portal.sql<{ id: string }[]>`
      select id from session where user_id = ${await userId(portal, name)} order by created_at desc, id limit 1`
  )[0]?.id ?? '';

describe('sessions', () => {
  it('are named by browser and system, and each other one can be ended', async () => {
    const cookies = await signedIn(portal, 'alice');
    portal.wait(1000);
    const other = await signedIn(portal, 'alice', firefox);
    const page = await portal.send({ url: '/portal/account/sessions', cookies });
    expect(page.body.includes('Firefox, Windows')).toBe(true);
    const id = await sessionIdIn('alice');
    const answer = await postAccount(portal, 'sessions', { do: 'end', id }, cookies);
    expect(answer.headers.location).toBe('/portal/account/sessions?notice=sessionEnded');
    expect([await signedInAs(portal, cookies), await signedInAs(portal, other)]).toEqual(['alice', null]);
    expect([await accountEvents(portal), await mailKinds(portal)]).toEqual([['own-sessions-ended'], ['sessionsEnded']]);
  });

  it('all others end at once, those that wait for a code too; never this one, nor somebody else’s', async () => {
    const cookies = await signedIn(portal, 'alice');
    const bob = await signedIn(portal, 'bob');
    const own = await sessionIdIn('alice');
    await signedIn(portal, 'alice');
    await giveApp(portal, 'alice');
    await signedIn(portal, 'alice');
    await postAccount(portal, 'sessions', { do: 'end', id: own }, cookies);
    await postAccount(portal, 'sessions', { do: 'end', id: await sessionIdIn('bob') }, cookies);
    expect(await portal.sql`select from session`).toHaveLength(4);
    for (let press = 0; press < 2; press += 1) await postAccount(portal, 'sessions', { do: 'endOthers' }, cookies);
    expect([await signedInAs(portal, cookies), await signedInAs(portal, bob)]).toEqual(['alice', 'bob']);
    expect(await portal.sql`select from session`).toHaveLength(2);
    expect(await accountEvents(portal)).toEqual(['own-sessions-ended']);
  });
});

it('ending sessions again and again ends each, and sends ten emails: other people’s codes wait in that queue', async () => {
  const cookies = await signedIn(portal, 'alice');
  for (let count = 0; count < 12; count += 1) {
    await signedIn(portal, 'alice');
    await postAccount(portal, 'sessions', { do: 'endOthers' }, cookies);
  }
  expect(await portal.sql`select from session`).toHaveLength(1);
  expect(await mailKinds(portal)).toEqual(Array(10).fill('sessionsEnded'));
});

it('sign-ins are the last twenty of this account, with their outcome, and nobody else’s', async () => {
  await portal.signIn('alice', 'wrong', { from: '203.0.113.5', ...firefox });
  await portal.signIn('bob', 'wrong', { from: '203.0.113.6' });
  const cookies = await signedIn(portal, 'alice');
  const { body } = await portal.send({ url: '/portal/account/sign-ins', cookies });
  const outcomes = [...body.matchAll(/class="state \w+">([^<]+)</g)].map(([, text]) => text);
  expect(outcomes).toEqual(['Signed in', 'Wrong password']);
  expect(body.match(/Firefox, Windows · IP address 203.0.113.5/g)).toHaveLength(1);
  expect([body.includes('203.0.113.5'), body.includes('203.0.113.6')]).toEqual([true, false]);
  for (let count = 0; count < 21; count += 1) await signedIn(portal, 'alice');
  const after = await portal.send({ url: '/portal/account/sign-ins', cookies });
  expect(after.body.match(/<time/g)).toHaveLength(20);
});

it('the language is that of emails and of the hub, and the page is shown in it; what is none is refused', async () => {
  const cookies = await signedIn(portal, 'alice');
  const answer = await postAccount(portal, '', { do: 'language', language: 'de' }, cookies);
  expect(answer.headers.location).toBe('/portal/account?notice=languageChosen&lang=de');
  expect((await portal.send({ url: '/portal/session', cookies })).json()).toMatchObject({ language: 'de' });
  const refused = await postAccount(portal, '', { do: 'language', language: 'xx' }, cookies);
  expect(refused.headers.location).toContain('notice=notPossible');
  const events = ['language-chosen', 'account-change-refused not-possible'];
  expect([await accountEvents(portal), await mailKinds(portal)]).toEqual([events, []]);
});

describe('a session by a connection', () => {
  /** Makes alice's session one by a connection of a customer. */
  async function byConnection(cookies: Browser, customer: string): Promise<void> {
    await portal.sql`
      with made as (
        insert into sso_connection (key, name, customer_id, protocol, settings, created_at)
        select 'acme-idp', 'Acme Login', id, 'oidc', '{}', now() from customer where key = ${customer} returning id, customer_id
      )
      update session s set connection_id = made.id, customer_ids = array[made.customer_id], proof = 'provider', proven_at = s.created_at
      from made where s.id = ${await sessionIdIn('alice')}`;
    expect(await signedInAs(portal, cookies)).toBe('alice');
  }

  it('that speaks for a part of the account sees itself, and changes nothing about the account', async () => {
    const byPassword = await signedIn(portal, 'alice');
    portal.wait(1000);
    const cookies = await signedIn(portal, 'alice');
    await byConnection(cookies, 'acme');
    await giveApp(portal, 'alice');
    const overview = await portal.send({ url: '/portal/account', cookies });
    expect(overview.body.includes('/portal/account/password')).toBe(false);
    for (const [section, form] of [
      ['password', { do: 'change', current: 'x', password: 'y', repeat: 'y' }],
      ['devices', { do: 'forgetAll' }],
      ['', { do: 'language', language: 'de' }],
    ] as const) {
      const answer = await postAccount(portal, section, { ...form, session: await sessionIdIn('alice') }, cookies);
      expect(answer.headers.location).toContain('notice=notPossible');
    }
    const sessions = await portal.send({ url: '/portal/account/sessions', cookies });
    expect(sessions.body.match(/class="row"/g)).toHaveLength(1);
    await postAccount(portal, 'sessions', { do: 'endOthers', session: await sessionIdIn('alice') }, cookies);
    expect(await signedInAs(portal, byPassword)).toBe('alice');
    const signIns = await portal.send({ url: '/portal/account/sign-ins', cookies });
    expect(signIns.body.match(/<time/g)).toBeNull();
  });
});

describe('what support changed', () => {
  const overview = async (cookies: Browser) =>
    (await portal.send({ url: '/portal/account?lang=en', cookies })).body.split('Changes by others')[1] ?? '';

  it('stands on the overview, own acts and old ones left out', async () => {
    await unlockUser(portal.sql, 'alice', portal.by());
    portal.wait(31 * day);
    const { cookies } = await withApp();
    expect(await overview(cookies)).toBe('');
    await changeUser(portal.sql, 'alice', { name: 'Al' }, portal.by());
    expect(await overview(cookies)).toContain('Account changed');
  });

  it('a reset that is ahead is called off by its owner alone, once', async () => {
    const { cookies } = await withApp();
    await resetTwoFactorLater(portal.sql, 'alice', portal.by());
    expect(await overview(cookies)).toMatch(/will be turned off.*value="keepFactor"/s);
    for (const [browser, notice] of [
      [await signedIn(portal, 'bob'), 'changedMeanwhile'],
      [cookies, 'factorKept'],
      [cookies, 'changedMeanwhile'],
    ] as const)
      expect((await postAccount(portal, '', { do: 'keepFactor' }, browser)).headers.location).toContain(notice);
    const kept = await portal.sql`select actor, host(address) from audit_event where event = 'two-factor-reset-kept'`;
    expect(kept).toEqual([{ actor: 'user:alice', host: '198.51.100.7' }]);
  });
});
