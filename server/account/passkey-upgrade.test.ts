import { beforeEach, describe, expect, it } from 'vitest';
import { accountEvents, postAccount, signedIn, startAccountAfresh } from '#testing/account-page-for-test.ts';
import { enrolmentOf, flag, newPasskey, type PasskeyForTest, type Tweak } from '#testing/passkey-for-test.ts';
import { givePasskey, signInWithPasskey, userHandle } from '#testing/passkey-sign-in-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sessionByConnection } from '#testing/session-by-connection.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';
import { giveApp, halfSession, signInWithApp } from '#testing/two-factor-for-test.ts';

// Docs/decisions/0056: a passkey that the browser makes by itself, after a sign-in by password.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

const minute = 60_000;
const at = '/portal/passkeys/upgrade';
/** Nobody is there to be seen or verified. */
const unasked: Tweak = { flags: flag.attested };

async function byPassword(browser = browserForTest(portal)): Promise<BrowserForTest> {
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  return browser;
}

type Begun = { challenge: string; user: { name: string }; [option: string]: unknown };

const scriptFor = async (browser: BrowserForTest) => (await browser.get(`${at}.js`)).body;

/** What the page's script says to begin with; null if it is empty. */
async function mayBegin(browser: BrowserForTest): Promise<Begun | null> {
  const script = await scriptFor(browser);
  return script === '' ? null : begunBy(script);
}

function begunBy(script: string): Begun {
  const [, text = ''] = /dataset\.begun = (".*");$/m.exec(script) ?? [];
  return JSON.parse(JSON.parse(text));
}

async function begin(browser: BrowserForTest): Promise<Begun> {
  const begun = await mayBegin(browser);
  if (!begun) throw new Error('nothing begins');
  return begun;
}

const isAsked = async (browser: BrowserForTest) => (await mayBegin(browser)) !== null;

/** Has every session begin again. */
const again = async () => await portal.sql`update session set passkey_begun = false`;

async function make(browser: BrowserForTest, tweak: Tweak = unasked) {
  return await answer(browser, await begin(browser), tweak);
}

async function answer(browser: BrowserForTest, options: { challenge: string }, tweak: Tweak = unasked) {
  const passkey = newPasskey({ userHandle: await userHandle(portal, 'alice') });
  const credential = enrolmentOf(passkey, options, tweak);
  const { statusCode } = await browser.post(at, { credential });
  return { passkey, statusCode };
}

const kept = async () => await portal.sql`select from passkey`;

describe('after a sign-in by password', () => {
  it('the page’s script asks for a passkey, and what the browser makes signs in', async () => {
    const browser = await byPassword();
    const script = await scriptFor(browser);
    expect(script).toMatch(/^import "\/portal\/assets\/[\w-]+\.js";\n/);
    const options = begunBy(script);
    expect(options.user.name).toBe('alice');
    expect(options.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'preferred' });
    const { passkey, statusCode } = await answer(browser, options);
    expect(statusCode).toBe(204);
    const signedIn = await signInWithPasskey(browserForTest(portal), passkey);
    expect(signedIn.headers.location).toBe('/portal/portal.html');
  });

  it('what it made without verification signs nobody in without', async () => {
    const { passkey } = await make(await byPassword());
    const refused = await signInWithPasskey(browserForTest(portal), passkey, { flags: flag.present });
    expect(refused.headers.location).toBe('/portal/loginfail/passkey');
    expect((await accountEvents(portal)).at(-1)).toBe('passkey-refused not-verified');
  });

  it('the person is told by email what their browser did, and the event says so', async () => {
    await make(await byPassword());
    const [mail] = await portal.sql`select kind, details from mail`;
    expect([mail?.kind, mail?.details.isUnasked]).toEqual(['passkeyAdded', true]);
    await portal.workOff();
    expect(portal.mails.at(-1)?.text.replaceAll(/\s+/g, ' ')).toContain('your browser made a passkey');
    const [event] = await portal.sql`select username, steps from audit_event where event = 'passkey-added'`;
    expect(event?.username).toBe('alice');
    const made = { step: 'made', outcome: 'by the browser itself, after a sign-in by password' };
    expect(event?.steps).toContainEqual(made);
  });

  it('with a code, where there is an app', async () => {
    const secret = await giveApp(portal, 'alice');
    const browser = browserForTest(portal);
    Object.assign(browser.cookies, await signInWithApp(portal, 'alice', secret));
    expect(await isAsked(browser)).toBe(true);
  });

  it('names the passkeys that there are, so that no device makes two', async () => {
    const { credentialId } = await givePasskey(portal, 'alice');
    const { excludeCredentials } = await begin(await byPassword());
    expect(excludeCredentials).toMatchObject([{ id: credentialId.toString('base64url') }]);
  });
});

describe('each browser makes one for a user at most once:', () => {
  it('it is not asked again, not even once that is removed, while another browser is', async () => {
    const browser = await byPassword();
    await make(browser);
    await portal.sql`delete from passkey`;
    await byPassword(browser);
    expect(await isAsked(browser)).toBe(false);
    expect(await isAsked(await byPassword())).toBe(true);
  });

  it('if it has made none, the next sign-in asks again', async () => {
    const browser = await byPassword();
    expect(await isAsked(browser)).toBe(true);
    await byPassword(browser);
    expect(await isAsked(browser)).toBe(true);
  });

  it('of two pages of one session, the first asks', async () => {
    const browser = await byPassword();
    const asked = await Promise.all([1, 2, 3].map(() => isAsked(browser)));
    expect(asked.sort()).toEqual([false, false, true]);
  });

  it('of two answers one is stored', async () => {
    const browser = await byPassword();
    const first = await begin(browser);
    await again();
    const second = await begin(browser);
    const answers = await Promise.all([answer(browser, first), answer(browser, second)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
    expect(await accountEvents(portal)).toEqual(
      expect.arrayContaining(['passkey-added', 'passkey-not-added made-before']),
    );
    expect(await kept()).toHaveLength(1);
  });
});

describe('a copy of the session’s and the device’s cookie', () => {
  const copyOf = ({ cookies }: BrowserForTest): BrowserForTest => {
    const thief = browserForTest(portal);
    for (const name of ['vestibule-session', 'vestibule-device']) thief.cookies[name] = cookies[name] ?? '';
    return thief;
  };

  it('begins none once the page after the sign-in is there, whether its browser makes one or cannot', async () => {
    const browser = await byPassword();
    const thief = copyOf(browser);
    await scriptFor(browser);
    expect(await scriptFor(thief)).toBe('');
    expect((await thief.open(`${at}/options`, { method: 'POST' })).statusCode).toBe(404);
  });

  it('begins none a minute after the sign-in, where no page has asked', async () => {
    const browser = await byPassword();
    portal.wait(minute);
    expect(await scriptFor(copyOf(browser))).toBe('');
  });

  it('begins none after an answer that was refused, nor under the session’s next token', async () => {
    const browser = await byPassword();
    await make(browser, { ...unasked, origin: 'https://evil.example' });
    expect(await scriptFor(copyOf(browser))).toBe('');
    Object.assign(
      browser.cookies,
      cookiesOf(await postAccount(portal, 'sessions', { do: 'endOthers' }, browser.cookies)),
    );
    expect(await scriptFor(copyOf(browser))).toBe('');
  });
});

describe('no browser is asked, nor is one taken,', () => {
  it.each([
    ['where passkeys are off', "update customer set passkeys = 'off'"],
    ['after a remembered device stood for the code', "update session set proven = 'remembered'"],
    ['where the browser is not known by a password', 'update device set by_password = false'],
    ['where a customer has come to ask for a code', "update customer set two_factor = 'email'"],
    ['later than ten minutes after', "update session set created_at = created_at - interval '11 minutes'"],
  ])('%s', async (_, change) => {
    const browser = await byPassword();
    const options = await begin(browser);
    await portal.sql.unsafe(change);
    const { statusCode } = await answer(browser, options);
    await again();
    expect([await isAsked(browser), statusCode]).toEqual([false, 409]);
    expect(await kept()).toHaveLength(0);
  });

  it('in a session by a provider', async () => {
    const browser = await byPassword();
    await sessionByConnection(portal, 'alice');
    expect(await isAsked(browser)).toBe(false);
  });

  it('for somebody who has as many as one may have', async () => {
    for (let n = 0; n < 20; n += 1) await givePasskey(portal, 'alice');
    expect(await isAsked(await byPassword())).toBe(false);
  });

  it('after a sign-in by passkey', async () => {
    const browser = await byPassword();
    const passkey = await givePasskey(portal, 'alice');
    await signInWithPasskey(browser, passkey);
    expect(await isAsked(browser)).toBe(false);
  });

  it('before the code, or without a session', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    const half = browserForTest(portal);
    Object.assign(half.cookies, await halfSession(portal, 'alice'));
    for (const browser of [half, browserForTest(portal)]) {
      expect(await isAsked(browser)).toBe(false);
      expect((await browser.post(at, { credential: '{}' })).statusCode).toBe(401);
    }
  });
});

describe('an answer is refused, and stores nothing,', () => {
  async function expectRefused(statusCode: number, reason: string): Promise<void> {
    expect(statusCode).toBe(409);
    expect(await accountEvents(portal)).toEqual([`passkey-not-added ${reason}`]);
    expect(await kept()).toHaveLength(0);
    expect(await portal.sql`select from device where passkey_made_at is not null`).toHaveLength(0);
  }

  it.each<[string, Tweak]>([
    ['wrong-origin', { ...unasked, origin: 'https://evil.example' }],
    ['wrong-relying-party', { ...unasked, rpId: 'evil.example' }],
    ['wrong-type', { ...unasked, type: 'webauthn.get' }],
    ['cross-origin', { ...unasked, clientData: { crossOrigin: true } }],
    ['challenge-unknown', { ...unasked, challenge: 'A'.repeat(43) }],
    ['attestation', { ...unasked, fmt: 'tpm' }],
  ])('as one that the person asked for: %s', async (reason, tweak) => {
    await expectRefused((await make(await byPassword(), tweak)).statusCode, reason);
  });

  it('if its challenge was for one that the person asked for, which has to be verified', async () => {
    const browser = await byPassword();
    const begun = await browser.open('/portal/passkeys/enrol/options', { method: 'POST' });
    const { statusCode } = await answer(browser, begun.json<{ challenge: string }>());
    await expectRefused(statusCode, 'challenge-unknown');
  });

  it('if it comes as one that the person asked for', async () => {
    const browser = await byPassword();
    const { challenge } = await begin(browser);
    const passkey: PasskeyForTest = newPasskey({ userHandle: await userHandle(portal, 'alice') });
    const form = { do: 'enrol', credential: enrolmentOf(passkey, { challenge }) };
    await postAccount(portal, 'passkeys', form, browser.cookies);
    await expectRefused(409, 'challenge-unknown');
  });

  it('if another session of the browser began it', async () => {
    const browser = await byPassword();
    const options = await begin(browser);
    Object.assign(browser.cookies, await signedIn(portal, 'alice', { cookies: browser.cookies }));
    await expectRefused((await answer(browser, options)).statusCode, 'session-over');
  });

  it('from another site', async () => {
    const browser = await byPassword();
    const { challenge } = await begin(browser);
    const credential = enrolmentOf(newPasskey({ userHandle: Buffer.alloc(16) }), { challenge }, unasked);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.post(at, { credential }, { headers })).statusCode).toBe(403);
    expect(await kept()).toHaveLength(0);
  });
});

it('a passkey that the person adds has to be verified as before', async () => {
  const browser = await byPassword();
  const begun = await browser.open('/portal/passkeys/enrol/options', { method: 'POST' });
  const passkey = newPasskey({ userHandle: await userHandle(portal, 'alice') });
  const credential = enrolmentOf(passkey, begun.json<{ challenge: string }>(), { flags: flag.attested | flag.present });
  await postAccount(portal, 'passkeys', { do: 'enrol', credential }, browser.cookies);
  expect(await accountEvents(portal)).toEqual(['passkey-not-added not-verified']);
  portal.wait(minute);
  expect(await kept()).toHaveLength(0);
});

it('other sites, and what is fetched ahead of the person, do not use up the only passkey of a session', async () => {
  const browser = await byPassword();
  for (const headers of [
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' },
  ])
    expect((await browser.get(`${at}.js`, { headers })).body).toBe('');
  expect((await browser.get(`${at}.js`, { headers: { 'sec-fetch-site': 'same-origin' } })).body).toContain('begun');
});
