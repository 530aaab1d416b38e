import { beforeEach, describe, expect, it } from 'vitest';
import { newToken, tokenHash } from '#server/secrets/token.ts';
import { newRegistrationToken } from '#server/two-factor/app-key.ts';
import { tokenOfPress } from '#server/two-factor/token-of-press.ts';
import { markOf, postAccount, signedIn, startAccountAfresh } from '#testing/account-page-for-test.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  recoveryCodesShown,
  registerApp,
  registrationUrl,
  signInWithApp,
  step,
} from '#testing/two-factor-for-test.ts';

// Docs/decisions/0051: what is proven counts in the browser that has proven it. A copy of its session cookie that is made later
// gets nothing of it either.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;
const url = '/portal/account/app?do=replace';

/** A copy of a browser's session cookie, elsewhere. */
const copyOf = (cookies: Browser): Browser => ({ 'vestibule-session': cookies['vestibule-session'] ?? '' });

/** One that a session's next token is given to: it has the cookie, too, by which its user is known there. */
const copyWithDevice = (cookies: Browser): Browser => ({
  ...copyOf(cookies),
  'vestibule-device': cookies['vestibule-device'] ?? '',
});

async function press(section: string, form: Record<string, string>, cookies: Browser): Promise<Browser> {
  return { ...cookies, ...cookiesOf(await postAccount(portal, section, form, cookies)) };
}

/** The key of the next app, as the page shows it; null if it shows none. */
async function keyFor(cookies: Browser): Promise<string | null> {
  const { body } = await portal.send({ url, cookies });
  return /class="secret"[^>]*>(.*?)<\/p>/s.exec(body)?.[1]?.replace(/<[^>]*>|\s/g, '') ?? null;
}

async function asksForCode(cookies: Browser, page = url): Promise<boolean> {
  return (await portal.send({ url: page, cookies })).body.includes('value="prove"');
}

async function withApp(): Promise<{ cookies: Browser; secret: string }> {
  const secret = await giveApp(portal, 'alice');
  const cookies = await signInWithApp(portal, 'alice', secret);
  portal.wait(step);
  return { cookies, secret };
}

/** Proven after the sign-in, for something else. */
async function proven(): Promise<Browser> {
  const { cookies, secret } = await withApp();
  portal.wait(11 * minute);
  return await press('recovery-codes', { do: 'prove', for: 'make', code: codeNow(portal, secret) }, cookies);
}

/** Ways to the page of the next app's key. */
const ways: [string, () => Promise<Browser>][] = [
  ['after a recent sign-in', async () => await press('app', { do: 'replace' }, (await withApp()).cookies)],
  ['after a proof for something else', async () => await press('app', { do: 'replace' }, await proven())],
  [
    'after a proof for it',
    async () => {
      const { cookies, secret } = await withApp();
      portal.wait(11 * minute);
      return await press('app', { do: 'prove', for: 'replace', code: codeNow(portal, secret) }, cookies);
    },
  ],
];

describe('the key of the next app', () => {
  it('is not shown to a copy that was made after a proof for something else: the press signs it out', async () => {
    const before = await proven();
    const thief = copyOf(before);
    portal.wait(3 * minute);
    expect(await keyFor(thief)).toBe(null);
    const owner = await press('app', { do: 'replace' }, before);
    expect(await keyFor(owner)).toMatch(/^[A-Z2-7]{32}$/);
    expect([await keyFor(thief), await signedInAs(portal, thief)]).toEqual([null, null]);
  });

  it.each(ways)('%s, is shown to no copy that is made while its page is open, nor set up by one', async (_, begin) => {
    const owner = await begin();
    const key = (await keyFor(owner)) ?? '';
    const thief = copyOf(owner);
    expect([await keyFor(thief), await asksForCode(thief)]).toEqual([null, true]);
    for (const form of [{ do: 'replace' }, { do: 'replace', code: codeNow(portal, key) }, { do: 'remove' }])
      expect(cookiesOf(await postAccount(portal, 'app', form, thief))['vestibule-session']).toBeUndefined();
    expect(await keyFor(owner)).toBe(key);
    const after = await press('app', { do: 'replace', code: codeNow(portal, key) }, owner);
    expect([await signedInAs(portal, after), await signedInAs(portal, thief)]).toEqual(['alice', null]);
    portal.wait(step);
    expect(await signedInAs(portal, await signInWithApp(portal, 'alice', key))).toBe('alice');
  });

  it.each(ways)('%s, is shown to no copy with a token of another kind, or of another session', async (_, begin) => {
    const owner = await begin();
    const session = tokenHash(owner['vestibule-session'] ?? '');
    const { code } = portal.deps.keys;
    for (const token of [newRegistrationToken(code, session), tokenOfPress(code, tokenHash(newToken()))]) {
      const thief = { ...copyOf(owner), 'vestibule-registration': token };
      expect([await keyFor(thief), await asksForCode(thief)]).toEqual([null, true]);
    }
    expect(await keyFor(owner)).not.toBe(null);
  });

  it.each(ways)('%s, is out of reach of a copy that gives the session its next token', async (_, begin) => {
    const owner = await begin();
    await keyFor(owner);
    const thief = await press('sessions', { do: 'endOthers' }, copyWithDevice(owner));
    expect([await signedInAs(portal, thief), await signedInAs(portal, owner)]).toEqual(['alice', null]);
    expect([await keyFor(thief), await asksForCode(thief)]).toEqual([null, true]);
    const again = await postAccount(portal, 'app', { do: 'replace' }, thief);
    expect(cookiesOf(again)['vestibule-session']).toBeUndefined();
  });

  it('is another one after each press, and the same at reloads and after the second press of one button', async () => {
    const before = await proven();
    const form = { do: 'replace', form: await markOf(portal, before) };
    const answers = await Promise.all([1, 2].map(() => postAccount(portal, 'app', form, before)));
    answers.push(await postAccount(portal, 'app', form, before));
    const owners = answers.map((answer) => ({ ...before, ...cookiesOf(answer) }));
    expect(owners[1]).toEqual(owners[0]);
    expect(owners[2]).toEqual(owners[0]);
    const [owner = {}] = owners;
    const key = await keyFor(owner);
    portal.wait(minute);
    expect([key !== null, await keyFor(owner)]).toEqual([true, key]);
    const next = await keyFor(await press('app', { do: 'replace' }, owner));
    expect([next !== null, next === key]).toEqual([true, false]);
  });

  it('is confirmed after the server has got another secret', async () => {
    const owner = await press('app', { do: 'replace' }, await proven());
    const key = (await keyFor(owner)) ?? '';
    const { keys } = portal.deps;
    const fresh = (of: readonly Buffer[]) => [Buffer.alloc(32, 7), ...of];
    Object.assign(portal.deps, { keys: { ...keys, seal: fresh(keys.seal), code: fresh(keys.code) } });
    try {
      expect(await keyFor(owner)).toBe(key);
      const after = await press('app', { do: 'replace', code: codeNow(portal, key) }, owner);
      expect((await recoveryCodesShown(portal, after)).codes).toHaveLength(10);
    } finally {
      Object.assign(portal.deps, { keys });
    }
  });
});

describe('recovery codes', () => {
  it.each<[string, () => Promise<Browser>]>([
    ['made on the account page', async () => await press('recovery-codes', { do: 'make' }, await proven())],
    [
      'of an app that the sign-in has set up',
      async () => {
        await addCustomer(portal, 'app', { twoFactor: 'app' });
        await addUser(portal, { username: 'gwen', customers: ['app'] });
        return (await registerApp(portal, await halfSession(portal, 'gwen'))).cookies;
      },
    ],
    [
      'of an app that a session has set up',
      async () => (await registerApp(portal, await signedIn(portal, 'alice'))).cookies,
    ],
  ])('%s are shown to no copy that is made while their page is open', async (_, make) => {
    const owner = await make();
    const thief = copyOf(owner);
    expect(await recoveryCodesShown(portal, thief)).toEqual({ codes: null, left: 10 });
    const { codes } = await recoveryCodesShown(portal, owner);
    expect(codes).toHaveLength(10);
    const next = await press('sessions', { do: 'endOthers' }, owner);
    expect((await recoveryCodesShown(portal, next)).codes).toEqual(codes);
    const taken = await press('sessions', { do: 'endOthers' }, copyWithDevice(next));
    expect((await recoveryCodesShown(portal, taken)).codes).toBe(null);
  });

  it('are made anew by no copy of a session that has proven itself', async () => {
    const thief = copyOf(await proven());
    await postAccount(portal, 'recovery-codes', { do: 'make' }, thief);
    expect(await portal.sql`select from recovery_code`).toHaveLength(0);
    expect(await asksForCode(thief, '/portal/account/recovery-codes?do=make')).toBe(true);
  });
});

it('a proof by password sets up the first app in its own browser, and in no copy', async () => {
  const cookies = await signedIn(portal, 'alice');
  portal.wait(11 * minute);
  const owner = await press('app', { do: 'prove', for: 'setUp', password: testPassword }, cookies);
  const open = async (of: Browser) => (await portal.send({ url: registrationUrl, cookies: of })).statusCode;
  expect([await open(copyOf(owner)), await open(owner)]).toEqual([409, 200]);
  expect(await asksForCode(copyOf(owner), '/portal/account/app?do=setUp')).toBe(true);
});
