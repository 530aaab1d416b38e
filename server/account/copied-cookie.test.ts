import { beforeEach, describe, expect, it } from 'vitest';
import { markOf, postAccount, signedIn, startAccountAfresh } from '#testing/account-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  recoveryCodesShown,
  signInWithApp,
  step,
} from '#testing/two-factor-for-test.ts';

// Docs/decisions/0051: a copy of a session cookie that waits for the owner's proof gets nothing of it.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;

/** A copy of a browser's session cookie, elsewhere. */
const copyOf = (cookies: Browser): Browser => ({ 'vestibule-session': cookies['vestibule-session'] ?? '' });

async function withApp(): Promise<{ cookies: Browser; secret: string }> {
  const secret = await giveApp(portal, 'alice');
  const cookies = await signInWithApp(portal, 'alice', secret);
  portal.wait(step);
  return { cookies, secret };
}

describe('of two copies of a session cookie', () => {
  it('the one that proves by a code goes on under another token, and the other is signed out', async () => {
    const { cookies, secret } = await withApp();
    const thief = copyOf(cookies);
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'make', code: codeNow(portal, secret) };
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'recovery-codes', form, cookies)) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
    await postAccount(portal, 'recovery-codes', { do: 'make' }, owner);
    expect((await recoveryCodesShown(portal, owner)).codes).toHaveLength(10);
    await expect(recoveryCodesShown(portal, thief)).rejects.toThrow('302');
  });

  it('the one that proves by the password does, too', async () => {
    const cookies = await signedIn(portal, 'alice');
    const thief = copyOf(cookies);
    portal.wait(11 * minute);
    const form = { do: 'prove', for: 'setUp', password: testPassword };
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'app', form, cookies)) };
    expect([await signedInAs(portal, owner), await signedInAs(portal, thief)]).toEqual(['alice', null]);
  });

  it('neither keeps the key of the next app that was shown before the proof', async () => {
    const { cookies, secret } = await withApp();
    await portal.send({ url: '/portal/account/app?do=replace', cookies });
    expect(await portal.sql`select from pending_totp`).toHaveLength(1);
    portal.wait(11 * minute);
    await postAccount(portal, 'app', { do: 'prove', for: 'replace', code: codeNow(portal, secret) }, cookies);
    expect(await portal.sql`select from pending_totp`).toHaveLength(0);
  });

  it('the owner still sees the recovery codes that they had made before', async () => {
    const { cookies, secret } = await withApp();
    portal.wait(9 * minute);
    await postAccount(portal, 'recovery-codes', { do: 'make' }, cookies);
    const { codes } = await recoveryCodesShown(portal, cookies);
    portal.wait(2 * minute);
    const form = { do: 'prove', for: 'remove', code: codeNow(portal, secret) };
    const owner = { ...cookies, ...cookiesOf(await postAccount(portal, 'app', form, cookies)) };
    expect((await recoveryCodesShown(portal, owner)).codes).toEqual(codes);
  });
});

it.each(['password', 'code'] as const)('two presses of the button that proves by a %s get one session', async (by) => {
  const { cookies, secret } =
    by === 'code' ? await withApp() : { cookies: await signedIn(portal, 'alice'), secret: null };
  portal.wait(11 * minute);
  const entry = secret === null ? { password: testPassword } : { code: codeNow(portal, secret) };
  const form = {
    do: 'prove',
    for: by === 'code' ? 'remove' : 'setUp',
    ...entry,
    form: await markOf(portal, cookies),
  };
  const answers = await Promise.all([1, 2].map(() => postAccount(portal, 'app', form, cookies)));
  answers.push(await postAccount(portal, 'app', form, cookies));
  const tokens = answers.map((answer) => cookiesOf(answer)['vestibule-session']);
  expect(tokens[0]).toBeDefined();
  expect(new Set(tokens).size).toBe(1);
  for (const { headers } of answers) expect(headers.location).toBe(`/portal/account/app?do=${form.for}&notice=proven`);
  expect(await signedInAs(portal, { 'vestibule-session': tokens[0] ?? '' })).toBe('alice');
});
