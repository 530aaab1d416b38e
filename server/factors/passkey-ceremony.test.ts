import { beforeEach, describe, expect, it } from 'vitest';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import type { Tweak } from '#test/support/passkey-for-test.ts';
import { givePasskey, makeByLink, signInWithPasskey } from '#test/support/passkey-sign-in-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { invitationFor, startAfresh } from '#test/support/reset-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

const id = 'acme.example';
const portal = portalOfFile({
  config: { passkeys: { id, origin: 'http://localhost:8080' } },
  each: startAfresh,
});

beforeEach(() => addUser(portal, { username: 'grace', passwordHash: null }));

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
    // Whoever has passkeys for another domain only is invited again.
    await givePasskey(portal, 'grace');
    const { location } = await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'));
    expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
    expect(await portal.sql`select from passkey where rp_id = ${id}`).toHaveLength(2);
  });

  it.each(forged)('refuses %s, at a sign-in and for a new passkey', async (_name, tweak) => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }), tweak);
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    expect(await lastReason('passkey-refused')).toBe('answer-invalid');
    await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'), () => tweak);
    expect(await lastReason('passkey-not-added')).toBe('answer-invalid');
    expect(await portal.sql`select from passkey`).toHaveLength(1);
  });
});
