import { beforeEach, describe, expect, it } from 'vitest';
import { assertionForgeries, enrolmentForgeries } from '#test/forgeries/passkey-forgeries.ts';
import { addAttackFixtures, signedInAs } from '#test/support/accounts-for-test.ts';
import {
  assertionOf,
  enrolmentOf,
  newPasskey,
  type PasskeyAlgorithm,
  type PasskeyForTest,
} from '#test/support/passkey-for-test.ts';
import {
  challengeFor,
  givePasskey,
  postAssertion,
  signInWithPasskey,
  userHandle,
} from '#test/support/passkey-sign-in-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { type BrowserForTest, browserForTest } from '#test/support/sso-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });
let passkey: PasskeyForTest;

beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from session; delete from throttle; delete from audit_event; delete from passkey; delete from job',
  );
  passkey = await givePasskey(portal, 'alice', { counter: 7 });
});

/** All that an answer could change. */
async function state(): Promise<string> {
  const tables = ['passkey', 'session', 'portal_user', 'job', 'device', 'recovery_code', 'totp'];
  return JSON.stringify(
    await Promise.all(tables.map((table) => portal.sql`select t::text from ${portal.sql(table)} t order by 1`)),
  );
}

/** The one event of an answer, with the reference that its page shows. */
async function onlyEvent(): Promise<{ event: string; reason: string; reference: string; steps: unknown[] }> {
  const events = await portal.sql<{ event: string; reason: string; reference: string; steps: unknown[] }[]>`
    select event, reason, reference, steps from audit_event order by id`;
  expect(events).toHaveLength(1);
  return events[0] as (typeof events)[number];
}

async function expectRefused(
  browser: BrowserForTest,
  location: unknown,
  reason: string,
  says: RegExp | null = null,
): Promise<void> {
  expect(location).toBe('/portal/loginfail/passkey');
  const event = await onlyEvent();
  expect(event).toMatchObject({ event: 'passkey-refused', reason });
  if (says) expect(JSON.stringify(event.steps.at(-1))).toMatch(says);
  expect((await browser.get('/portal/loginfail/passkey')).body).toContain(event.reference);
}

describe('a sign-in', () => {
  it('is refused with every forgery; the control passes', async () => {
    await eachRow(assertionForgeries, async ({ reason, says, tweak }) => {
      await portal.sql.unsafe('delete from throttle; delete from audit_event');
      const browser = browserForTest(portal);
      const before = await state();
      const answer = await signInWithPasskey(browser, passkey, tweak(passkey));
      expect(await state()).toBe(before);
      await expectRefused(browser, answer.headers.location, reason, says);
    });
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, passkey);
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  });

  it.each(['the second time', 'in another browser', 'after five minutes'])('is refused %s', async (what) => {
    const [own, other] = [browserForTest(portal), browserForTest(portal)];
    const credential = assertionOf(passkey, { challenge: await challengeFor(own) });
    if (what === 'the second time') await postAssertion(own, credential);
    if (what === 'after five minutes') portal.wait(300_000);
    await challengeFor(other);
    const browser = what === 'in another browser' ? other : own;
    await portal.sql.unsafe('delete from session; delete from audit_event');
    const answer = await postAssertion(browser, credential);
    await expectRefused(browser, answer.headers.location, 'challenge-unknown');
  });

  it('is refused with the challenge of a second factor, or a passkey for another relying party', async () => {
    const browser = browserForTest(portal);
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser, 'second-factor') });
    const answer = await postAssertion(browser, credential);
    await expectRefused(browser, answer.headers.location, 'challenge-unknown');
    await portal.sql`delete from audit_event`;
    await portal.sql`update passkey set rp_id = 'example.test'`;
    const again = await signInWithPasskey(browser, passkey);
    await expectRefused(browser, again.headers.location, 'unknown-passkey');
  });
});

describe('an enrolment', () => {
  type Options = { challenge: string; user: { id: string } };

  async function begun(username = 'bob') {
    const browser = browserForTest(portal);
    await browser.post('/portal/performlogin', { username, password: testPassword });
    const { body } = await browser.get('/portal/account/passkeys?do=enrol');
    const session = /name="session" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const begin = async () => (await browser.get('/portal/passkeys/enrol/options', { method: 'POST' })).json<Options>();
    const options = await begin();
    await portal.sql`delete from audit_event`;
    const post = (credential: string) => browser.post('/portal/account/passkeys', { session, do: 'enrol', credential });
    return { browser, begin, options, post, own: newPasskey({ userHandle: await userHandle(portal, username) }) };
  }

  const lastNotice = (location: unknown) => new URL(String(location), 'http://x').searchParams.get('notice');

  it.each(['ES256', 'EdDSA', 'RS256'] as PasskeyAlgorithm[])(
    'the control passes with %s, and signs in',
    async (algorithm) => {
      const { options, post, own } = await begun();
      expect(options).toMatchObject({
        rp: { id: 'localhost' },
        user: { id: own.userHandle.toString('base64url'), name: 'bob' },
        attestation: 'none',
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        pubKeyCredParams: [{ alg: -7 }, { alg: -8 }, { alg: -257 }],
      });
      const made = newPasskey({ userHandle: own.userHandle }, algorithm);
      expect(lastNotice((await post(enrolmentOf(made, options))).headers.location)).toBe('passkeyAdded');
      expect(await onlyEvent()).toMatchObject({ event: 'passkey-added' });
      expect(await portal.sql`select payload->>'kind' as kind from job`).toEqual([{ kind: 'passkeyAdded' }]);
      const browser = browserForTest(portal);
      await signInWithPasskey(browser, made);
      expect(await signedInAs(portal, browser.cookies)).toBe('bob');
    },
  );

  it('is refused with every forgery', async () => {
    const { begin, post, own } = await begun();
    await eachRow(enrolmentForgeries, async ({ reason, says, tweak }) => {
      await portal.sql.unsafe('delete from throttle; delete from audit_event');
      const before = await state();
      const answer = await post(enrolmentOf(own, await begin(), tweak(own)));
      expect(await state()).toBe(before);
      expect(lastNotice(answer.headers.location)).toBe('passkeyRefused');
      const event = await onlyEvent();
      expect(event).toMatchObject({ event: 'passkey-not-added', reason });
      if (says) expect(JSON.stringify(event.steps.at(-1))).toMatch(says);
    });
  });
});
