import { expect, it } from 'vitest';
import { field } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, followLeavePage, lastFailure } from '#test/support/sso-for-test.ts';

let browser: BrowserForTest;
const portal = portalOfFile({
  each: async (portal) => {
    await emptyDatabase(portal);
    await addCustomer(portal, 'acme');
    for (const username of ['alice', 'mallory']) await addUser(portal, { username });
    await addSamlConnection(portal, acme, { mayBegin: true });
    browser = browserForTest(portal);
  },
});
const acme = samlProviderOfFile(portal, 'idp.acme.test');

/** A tile at the provider has the browser post an answer that nobody asked for. */
const press = (form = samlAnswer(portal, acme, null)) => postSamlAnswer(portal, browser, form);
const pressed = async (form?: Record<string, string>) => String((await press(form)).headers.location);
/** A press on the tile, and what the provider answers to the visit that it begins. */
async function signInByTile(email: string): Promise<string> {
  const request = samlRequestAt(await followLeavePage(browser, await press()));
  const posted = await postSamlAnswer(portal, browser, samlAnswer(portal, acme, request, { email }));
  return String(posted.headers.location);
}
const who = () => signedInAs(portal, browser.cookies);
const visits = async () => (await portal.sql`select from visit`).length;
const set = (settings: object) =>
  portal.sql`update sso_connection set settings = settings || ${JSON.stringify(settings)}`;

it('SA-26 begins a visit of this browser at once; its own answer counts, and whoever is signed in stays so', async () => {
  const begun = await pressed({ ...samlAnswer(portal, acme, null), RelayState: 'https://evil.example/' });
  expect(begun).toMatch(/^\/portal\/authenticate\/leave\?/);
  expect([await who(), await visits()]).toEqual([null, 1]);
  expect(await signInByTile('alice@acme.test')).toBe('/portal/portal.html');
  await press(samlAnswer(portal, acme, null, { email: 'mallory@acme.test' }));
  expect(await who()).toBe('alice');
  expect(await signInByTile('mallory@acme.test')).toContain('/portal/logout?confirm=&destination');
  expect(await who()).toBe('alice');
});

it('SA-26 reads the issuer of a message alone, signed or not', async () => {
  await set({ entityId: 'https://idp.test/?a=1&b=2' });
  const issuer = '<a:Issuer Format="x">\n https://idp.test/?a=1&amp;b=2\n</a:Issuer>';
  expect(await pressed({ SAMLResponse: field(`<p:Response>${issuer}</p:Response>`) })).toMatch(/leave/);
});

it('SA-26 a provider that answers every request by a tile’s answer ends on the failure page, and may be tried again', async () => {
  const rounds = [await pressed(), await pressed(), await pressed(), await pressed()];
  expect(rounds.map((location) => location.includes('/leave'))).toEqual([true, true, true, false]);
  expect(rounds.at(-1)).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await visits()).toBe(0);
  // With our RelayState it is an answer to the visit, and refused as such.
  const { state } = samlRequestAt(await followLeavePage(browser, await press()));
  await press({ ...samlAnswer(portal, acme, null), RelayState: state });
  expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
});

it.each([
  ['is allowed at no connection', 'provider-began', /--idp-initiated on/, { mayBegin: false }, undefined],
  ['is of no connection', 'provider-began', /no connection/, { entityId: 'https://other.test/' }, undefined],
  ['answers another request', 'request-unknown', /no request of ours/, {}, { id: '_another', state: '' }],
] as const)('SA-26 a message that %s begins nothing', async (_what, reason, words, settings, asked) => {
  await set(settings);
  const { SAMLResponse = '' } = samlAnswer(portal, acme, asked ?? null);
  expect(await pressed({ SAMLResponse })).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await lastFailure(portal)).toMatchObject({ reason, steps: [{ outcome: expect.stringMatching(words) }] });
  expect(await visits()).toBe(0);
});

it('SA-26 nor does one of a disabled connection', async () => {
  await portal.sql`update sso_connection set active = false`;
  await press();
  expect([(await lastFailure(portal))?.reason, await visits()]).toEqual(['provider-began', 0]);
});

it('SA-43 no issuer is found in a message that is made to cost, and at once', async () => {
  const begun = process.threadCpuUsage();
  for (const part of ['<Issuer ', '<Issuer>', '<a:Issuer x="', `<Issuer>${'x'.repeat(2000)}`, '<<<', '  '])
    await press({ SAMLResponse: field(part.repeat(180_000 / part.length)) });
  expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(500);
  expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
});
