import { beforeEach, describe, expect, it } from 'vitest';
import { accountEvents, postAccount, startAccountAfresh } from '#test/support/account-page-for-test.ts';
import { addCustomer, signedInAs } from '#test/support/accounts-for-test.ts';
import { assertionOf, flag, newPasskey, type PasskeyForTest, type Tweak } from '#test/support/passkey-for-test.ts';
import { challengeFor, givePasskey, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { type BrowserForTest, browserForTest, keepCookies } from '#test/support/sso-for-test.ts';
import { codeNow, giveApp } from '#test/support/two-factor-for-test.ts';

// Docs/decisions/0052: a fresh proof by passkey, in place, on the account page.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;
const optionsUrl = '/portal/passkeys/prove/options';
const begin = (browser: BrowserForTest) =>
  browser.get(optionsUrl, { method: 'POST', headers: { accept: 'application/json' } });

/** Signed in by password, longer ago than that proves anything. */
async function longAgo(username = 'alice'): Promise<BrowserForTest> {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username, password: testPassword });
  portal.wait(11 * minute);
  return browser;
}

async function act(browser: BrowserForTest, section: string, form: Record<string, string>): Promise<URLSearchParams> {
  const answer = await postAccount(portal, section, form, browser.cookies);
  keepCookies(browser, answer);
  return new URL(String(answer.headers.location), 'http://x').searchParams;
}

/** Proves in a browser, honestly unless it is tweaked. */
async function proveBy(
  browser: BrowserForTest,
  passkey: PasskeyForTest,
  tweak: Tweak = {},
  [section, begun]: readonly [string, string] = ['passkeys', 'enrol'],
): Promise<URLSearchParams> {
  const { challenge } = (await begin(browser)).json<{ challenge: string }>();
  return await act(browser, section, {
    do: 'prove',
    for: begun,
    credential: assertionOf(passkey, { challenge }, tweak),
  });
}

/** What the sessions have proven last, and not longer ago than that counts. */
const proofs = async () => {
  const since = new Date(portal.deps.now().getTime() - 10 * minute);
  const rows = await portal.sql<{ proof: string }[]>`select proof from session where proven_at > ${since}`;
  return rows.map(({ proof }) => proof);
};

describe('a passkey, where a password is asked for once more', () => {
  it('is offered beside it, with its script, and proves: what was begun comes back', async () => {
    const passkey = await givePasskey(portal, 'alice');
    const browser = await longAgo();
    const [row] = await portal.sql<{ id: string }[]>`select id from passkey`;
    const begun = `/portal/account/passkeys?do=rename&id=${row?.id}`;
    expect((await browser.get(begun)).body).not.toContain('data-prove');
    const page = await browser.get(`/portal/account/passkeys?do=remove&id=${row?.id}`);
    expect([page.body.includes('name="password"'), page.body.includes(`data-prove="${optionsUrl}"`)]).toEqual([
      true,
      true,
    ]);
    const { challenge } = (await begin(browser)).json<{ challenge: string }>();
    const credential = assertionOf(passkey, { challenge });
    const to = await act(browser, 'passkeys', { do: 'prove', for: 'remove', id: row?.id ?? '', credential });
    expect(Object.fromEntries(to)).toEqual({ do: 'remove', id: row?.id, notice: 'proven' });
    expect((await act(browser, 'passkeys', { do: 'remove', id: row?.id ?? '' })).get('notice')).toBe('passkeyRemoved');
  });
});

describe('MF-12 a passkey, where a customer that requires the app takes none: it would open that customer,', () => {
  const replace = ['app', 'replace'] as const;
  const make = ['recovery-codes', 'make'] as const;
  const refusedChange = 'account-change-refused no-fresh-proof';

  async function ofStern() {
    await addCustomer(portal, 'stern', { twoFactor: 'app' });
    await portal.sql`update customer set passkeys = 'off' where key = 'stern'`;
    await portal.sql`insert into membership select u.id, c.id from portal_user u, customer c
      where u.username = 'alice' and c.key = 'stern'`;
    return { secret: await giveApp(portal, 'alice'), passkey: await givePasskey(portal, 'alice') };
  }
  const pageToProve = async (browser: BrowserForTest, [section, begun]: readonly [string, string]) => {
    const { body } = await browser.get(`/portal/account/${section}?do=${begun}`);
    return [body.includes('name="code"'), body.includes('data-prove')];
  };

  it.each([replace, make])('neither signs in to change it: %s, %s', async (section, begun) => {
    const { passkey, secret } = await ofStern();
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, passkey);
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    const { 'vestibule-session': before } = browser.cookies;
    expect(await pageToProve(browser, [section, begun])).toEqual([true, false]);
    await act(browser, section, { do: begun });
    expect([browser.cookies['vestibule-session'], await accountEvents(portal)]).toEqual([before, [refusedChange]]);
    // A code does.
    const to = await act(browser, section, { do: 'prove', for: begun, code: codeNow(portal, secret) });
    expect(to.get('notice')).toBe('proven');
    await act(browser, section, { do: begun });
    expect(await accountEvents(portal)).toContain('fresh-proof-given');
  });
});

describe('no passkey is asked for, or taken,', () => {
  it.each([
    ['where passkeys are off', "update customer set passkeys = 'off'"],
    ['once it is removed', 'delete from passkey'],
    ['where it was made for another host', "update passkey set rp_id = 'elsewhere.example'"],
    ['in a session that a remembered device has opened', "update session set proof = 'remembered'"],
    ['where a code by email comes first', "update customer set two_factor = 'email'"],
  ])('%s', async (_, change) => {
    const passkey = await givePasskey(portal, 'alice');
    const browser = await longAgo();
    const { challenge } = (await begin(browser)).json<{ challenge: string }>();
    await portal.sql.unsafe(change);
    expect((await browser.get('/portal/account/app?do=setUp')).body).not.toContain('data-prove');
    expect((await begin(browser)).statusCode).toBe(409);
    const credential = assertionOf(passkey, { challenge });
    const to = await act(browser, 'app', { do: 'prove', for: 'setUp', credential });
    expect(to.get('notice')).toBe('notPossible');
    expect(await proofs()).toEqual([]);
  });
});

describe('a proof by passkey is refused, and changes nothing,', () => {
  async function expectRefused(to: URLSearchParams, reason: string): Promise<void> {
    expect([to.get('notice'), to.get('do')]).toEqual(['passkeyProofRefused', 'enrol']);
    expect(await accountEvents(portal)).toEqual([`fresh-proof-refused ${reason}`]);
    expect(await proofs()).toEqual([]);
  }

  it('if it is somebody else’s', async () => {
    await givePasskey(portal, 'alice');
    await expectRefused(await proveBy(await longAgo(), await givePasskey(portal, 'bob')), 'other-user');
  });

  it.each<[string, Tweak]>([
    ['answer-invalid', { flags: flag.present }],
    ['answer-invalid', { origin: 'https://evil.example' }],
    ['wrong-signature', { signWith: newPasskey({ userHandle: Buffer.alloc(16) }).privateKey }],
    ['challenge-unknown', { challenge: 'A'.repeat(43) }],
    ['other-user', { userHandle: null }],
  ])('as at a sign-in: %s', async (reason, tweak) => {
    await expectRefused(await proveBy(await longAgo(), await givePasskey(portal, 'alice'), tweak), reason);
  });

  it.each<[string, (browser: BrowserForTest) => Promise<string>]>([
    ['was for a sign-in', challengeFor],
    [
      'belongs to another session of the same browser and person',
      async (browser) => {
        const { challenge } = (await begin(browser)).json<{ challenge: string }>();
        await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
        portal.wait(11 * minute);
        return challenge;
      },
    ],
    [
      'belongs to another browser',
      async (browser) => {
        const thief = browserForTest(portal);
        thief.cookies['vestibule-session'] = browser.cookies['vestibule-session'] ?? '';
        return (await begin(thief)).json<{ challenge: string }>().challenge;
      },
    ],
  ])('if its challenge %s', async (_what, challengeIn) => {
    const passkey = await givePasskey(portal, 'alice');
    const browser = await longAgo();
    const credential = assertionOf(passkey, { challenge: await challengeIn(browser) });
    await expectRefused(await act(browser, 'passkeys', { do: 'prove', for: 'enrol', credential }), 'challenge-unknown');
  });
});

it('a removed passkey takes back what it has proven in other sessions', async () => {
  const passkey = await givePasskey(portal, 'alice');
  const [own, thief] = [browserForTest(portal), await longAgo()];
  await own.post('/portal/performlogin', { username: 'alice', password: testPassword });
  await proveBy(thief, passkey);
  expect(await proofs()).toContain('passkey');
  const [row] = await portal.sql<{ id: string }[]>`select id from passkey`;
  expect((await act(own, 'passkeys', { do: 'remove', id: row?.id ?? '' })).get('notice')).toBe('passkeyRemoved');
  expect(await proofs()).toEqual(['password']);
  expect((await act(thief, 'passkeys', { do: 'enrol', credential: '{}' })).get('do')).toBe('enrol');
  expect(await accountEvents(portal)).not.toContain('passkey-not-added malformed');
});
