import { beforeEach, describe, expect, it } from 'vitest';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import type { Tweak } from '#test/support/passkey-for-test.ts';
import { challengeFor, givePasskey, makeByLink, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { invitationFor, startAfresh } from '#test/support/reset-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const id = 'acme.example';
const portal = portalOfFile({
  config: { passkeys: { id, origin: 'http://localhost:8080' } },
  each: startAfresh,
});

beforeEach(() => addUser(portal, { username: 'grace', passwordHash: null }));

/** Answers for an installation whose passkeys are made for a domain that is not its host. */
const forged: [string, Tweak, string][] = [
  ['the domain itself, which is not listed', { origin: 'https://acme.example' }, 'answer-invalid'],
  ['another host of the domain', { origin: 'https://blog.acme.example' }, 'answer-invalid'],
  ['another site', { origin: 'https://shop.example' }, 'answer-invalid'],
  ['the hash of the portal’s host', { rpId: 'localhost' }, 'answer-invalid'],
  ['the hash of a parent', { rpId: 'example' }, 'answer-invalid'],
];

const lastReason = async (event: string) =>
  (await portal.sql`select reason from audit_event where event = ${event} order by id desc limit 1`)[0]?.reason;

describe('a sign-in', () => {
  it('from a page of the portal passes', async () => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }));
    expect(await signedInAs(portal, browser.cookies)).toBe('alice');
  });

  it.each(forged)('with %s is refused', async (_name, tweak, reason) => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }), tweak);
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    expect(await lastReason('passkey-refused')).toBe(reason);
  });

  it('by a passkey from before, for another domain, is refused', async () => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice'));
    expect(await lastReason('passkey-refused')).toBe('unknown-passkey');
  });

  it('is asked for the domain', async () => {
    const browser = browserForTest(portal);
    await challengeFor(browser);
    const answer = await browser.get('/portal/passkeys/options', { method: 'POST' });
    expect(answer.json()).toMatchObject({ rpId: id });
  });
});

describe('a new passkey', () => {
  it('from a page of the portal is taken, for the domain', async () => {
    const { location } = await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'));
    expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
    expect(await portal.sql`select rp_id as "rpId" from passkey`).toEqual([{ rpId: id }]);
  });

  it.each(forged)('with %s is refused', async (_name, tweak, reason) => {
    await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'), () => tweak);
    expect(await portal.sql`select from passkey`).toHaveLength(0);
    expect(await lastReason('passkey-not-added')).toBe(reason);
  });
});

it('whoever has passkeys for another domain only is invited again', async () => {
  await givePasskey(portal, 'grace');
  const { location } = await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'));
  expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
  expect(await portal.sql`select from passkey`).toHaveLength(2);
});
