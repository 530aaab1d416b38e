import { beforeEach, describe, expect, it } from 'vitest';
import { addUser } from '#testing/accounts-for-test.ts';
import { invitationFor } from '#testing/invite-for-test.ts';
import { makeByLink } from '#testing/passkey-by-invitation-for-test.ts';
import type { Tweak } from '#testing/passkey-for-test.ts';
import { challengeFor, givePasskey, signInWithPasskey } from '#testing/passkey-sign-in-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { startAfresh } from '#testing/reset-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { browserForTest } from '#testing/sso-for-test.ts';

const id = 'acme.example';
const related = ['https://shop.example', 'https://www.acme.example:8443'];
const portal = portalOfFile({
  config: { passkeys: { id, origins: ['http://localhost:8080'], related } },
  each: startAfresh,
});

beforeEach(() => addUser(portal, { username: 'grace', passwordHash: null }));

/** Answers for an installation whose passkeys are made for a domain that is not its host, and may be used elsewhere. */
const ownPage: [string, Tweak] = ['a page of the portal', {}];
const relatedPages: [string, Tweak][] = [
  ['a related origin', { origin: 'https://shop.example' }],
  ['one with a port', { origin: 'https://www.acme.example:8443' }],
];
const forged: [string, Tweak, string][] = [
  ['the domain itself, which is not listed', { origin: 'https://acme.example' }, 'wrong-origin'],
  ['another host of the domain', { origin: 'https://blog.acme.example' }, 'wrong-origin'],
  ['a related host at another port', { origin: 'https://shop.example:8443' }, 'wrong-origin'],
  ['a related host by another scheme', { origin: 'http://shop.example' }, 'wrong-origin'],
  ['a subdomain of a related one', { origin: 'https://evil.shop.example' }, 'wrong-origin'],
  ['a related one that continues', { origin: 'https://shop.example.evil.example' }, 'wrong-origin'],
  ['a frame of a related one', { origin: 'https://shop.example', clientData: { crossOrigin: true } }, 'cross-origin'],
  ['the hash of the portal’s host', { rpId: 'localhost' }, 'wrong-relying-party'],
  ['the hash of a related host', { rpId: 'shop.example' }, 'wrong-relying-party'],
  ['the hash of a parent', { rpId: 'example' }, 'wrong-relying-party'],
];

const lastReason = async (event: string) =>
  (await portal.sql`select reason from audit_event where event = ${event} order by id desc limit 1`)[0]?.reason;

describe('a sign-in', () => {
  it.each([ownPage, ...relatedPages])('from %s passes', async (_name, tweak) => {
    const browser = browserForTest(portal);
    await signInWithPasskey(browser, await givePasskey(portal, 'alice', { rpId: id }), tweak);
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
    const answer = await browser.open('/portal/passkeys/options', { method: 'POST' });
    expect(answer.json()).toMatchObject({ rpId: id });
  });
});

describe('a new passkey', () => {
  it('from a page of the portal is taken, for the domain', async () => {
    const { location } = await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'));
    expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
    expect(await portal.sql`select rp_id as "rpId" from passkey`).toEqual([{ rpId: id }]);
  });

  // Only a sign-in is asked for on pages elsewhere.
  it.each(relatedPages)('from %s is refused', async (_name, tweak) => {
    await makeByLink(browserForTest(portal), await invitationFor(portal, 'grace'), () => tweak);
    expect(await portal.sql`select from passkey`).toHaveLength(0);
    expect(await lastReason('passkey-not-added')).toBe('wrong-origin');
  });

  it.each(forged.filter(([, { clientData }]) => !clientData))('with %s is refused', async (_name, tweak, reason) => {
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

it('browsers learn the related origins', async () => {
  const { statusCode, headers, body } = await portal.send({ url: '/.well-known/webauthn' });
  expect([statusCode, headers['set-cookie'], JSON.parse(body)]).toEqual([200, undefined, { origins: related }]);
  expect(headers['content-type']).toMatch(/^application\/json(?:;|$)/);
});
