import { describe, expect, it } from 'vitest';
import { postAccount, signedIn } from '#test/support/account-page-for-test.ts';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { enrolmentOf, newPasskey, type Tweak } from '#test/support/passkey-for-test.ts';
import { givePasskey, signInWithPasskey, userHandle } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { startAfresh } from '#test/support/reset-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const id = 'acme.example';
const portal = portalOfFile({
  config: { passkeys: { id, origin: 'http://localhost:8080' } },
  each: startAfresh,
});

/** Makes a passkey on the account page, honestly unless it is tweaked. */
async function enrol(tweak: Tweak = {}): Promise<void> {
  const cookies = await signedIn(portal, 'bob');
  const begun = await portal.send({ method: 'POST', url: '/portal/passkeys/enrol/options', cookies });
  const options = begun.json<{ challenge: string }>();
  const made = newPasskey({ userHandle: await userHandle(portal, 'bob'), rpId: id });
  const form = { do: 'enrol', credential: enrolmentOf(made, options, tweak) };
  await postAccount(portal, 'passkeys', form, { ...cookies, ...cookiesOf(begun) });
}

describe('an installation whose passkeys are made for a domain that is not its host', () => {
  const forged: [string, Tweak][] = [
    ['the domain itself, which is not listed', { origin: 'https://acme.example' }],
    ['another host of the domain', { origin: 'https://blog.acme.example' }],
    ['another site', { origin: 'https://shop.example' }],
    ['the hash of the portal’s host', { rpId: 'localhost' }],
    ['the hash of a parent', { rpId: 'example' }],
  ];

  const lastReason = async (event: string) =>
    (await portal.sql`select reason from audit_event where event = ${event} order by id desc limit 1`)[0]?.reason;

  it('takes a passkey for it from its own pages, and makes one', async () => {
    const browser = browserForTest(portal);
    const answer = await browser.get('/portal/passkeys/options', { method: 'POST' });
    expect(answer.json()).toMatchObject({ rpId: id });
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }));
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
    await enrol();
    expect(await portal.sql`select from passkey where rp_id = ${id}`).toHaveLength(2);
  });

  it.each(forged)('refuses %s, at a sign-in and for a new passkey', async (_name, tweak) => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }), tweak);
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    expect(await lastReason('passkey-refused')).toBe('answer-invalid');
    await enrol(tweak);
    expect(await lastReason('passkey-not-added')).toBe('answer-invalid');
    expect(await portal.sql`select from passkey`).toHaveLength(1);
  });
});
