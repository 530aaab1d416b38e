import { beforeEach, expect, it } from 'vitest';
import { field } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
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

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addSamlConnection(portal, acme, { mayBegin: true });
  browser = browserForTest(portal);
});

/** A tile at the provider has the browser post an answer that nobody asked for. */
const tile = async (form = samlAnswer(portal, acme, null)) => await postSamlAnswer(portal, browser, form);
/** A press on the tile, and what the provider answers to the visit that it begins. */
async function signInByTile(email: string): Promise<string> {
  const request = samlRequestAt(await followLeavePage(browser, await tile()));
  const posted = await postSamlAnswer(portal, browser, samlAnswer(portal, acme, request, { email }));
  return String(posted.headers.location);
}
const sessions = async () => (await portal.sql`select from session`).length;
const visits = async () => (await portal.sql`select from visit`).length;

it('SA-26 begins a visit of this browser at once, and signs in nobody by itself', async () => {
  const begun = await tile({ ...samlAnswer(portal, acme, null), RelayState: 'https://evil.example/' });
  expect(begun.headers.location).toMatch(/^\/portal\/authenticate\/leave\?/);
  expect([await sessions(), await visits()]).toEqual([0, 1]);
  expect(await signInByTile('alice@acme.test')).toBe('/portal/portal.html');
  expect((await browser.get('/portal/portal.html')).body).toContain('alice@acme.test');
});

it('SA-26 whoever the answer names, the visit’s own answer counts; whoever is signed in stays so', async () => {
  await signInByTile('alice@acme.test');
  await tile(samlAnswer(portal, acme, null, { email: 'mallory@acme.test' }));
  expect((await browser.get('/portal/portal.html')).body).toContain('alice@acme.test');
  expect(await signInByTile('mallory@acme.test')).toContain('/portal/logout?confirm=&destination');
  expect((await browser.get('/portal/portal.html')).body).toContain('alice@acme.test');
});

const message = (xml: string) => ({ SAMLResponse: field(xml) });
const named = (issuer: string) => message(`<p:Response><a:Issuer Format="x">\n ${issuer}\n</a:Issuer></p:Response>`);

it('SA-26 reads the issuer of a message alone, signed or not', async () => {
  expect((await tile(named(acme.entityId))).headers.location).toMatch(/leave/);
  await portal.sql`update sso_connection set settings = settings || '{"entityId": "https://idp.test/?a=1&b=2"}'`;
  expect((await tile(named('https://idp.test/?a=1&amp;b=2'))).headers.location).toMatch(/leave/);
});

it('SA-26 a provider that answers every request by a tile’s answer ends on the failure page, and may be tried again', async () => {
  const round = async () => String((await tile()).headers.location);
  const rounds = [await round(), await round(), await round(), await round()];
  expect(rounds.map((location) => location.includes('/leave'))).toEqual([true, true, true, false]);
  expect(rounds.at(-1)).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await visits()).toBe(0);
  expect(await round()).toContain('/leave');
  // With our RelayState it is an answer to the visit, and refused as such.
  const { state } = samlRequestAt(await followLeavePage(browser, await tile()));
  await tile({ ...samlAnswer(portal, acme, null), RelayState: state });
  expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
});

it.each([
  ['is allowed at no connection', 'provider-began', /--idp-initiated on/, '{"mayBegin": false}', undefined],
  ['is of no connection', 'provider-began', /no connection/, '{"entityId": "https://other.test/"}', undefined],
  ['answers another request', 'request-unknown', /no request of ours/, '{}', { id: '_another', state: '' }],
] as const)('SA-26 a message that %s begins nothing', async (_what, reason, words, settings, asked) => {
  await portal.sql`update sso_connection set settings = settings || ${settings}::text::jsonb`;
  const { SAMLResponse = '' } = samlAnswer(portal, acme, asked ?? null);
  expect((await tile({ SAMLResponse })).headers.location).toMatch(/^\/portal\/loginfail\/saml/);
  expect(await lastFailure(portal)).toMatchObject({ reason, steps: [{ outcome: expect.stringMatching(words) }] });
  expect([await sessions(), await visits()]).toEqual([0, 0]);
});

it('SA-26 nor does one of a disabled connection, or of two', async () => {
  await addSamlConnection(portal, acme, { key: 'other', domains: ['other.test'], mayBegin: true });
  await tile();
  expect((await lastFailure(portal))?.steps[0]?.outcome).toContain('several connections');
  await portal.sql`update sso_connection set active = false`;
  await tile();
  expect((await lastFailure(portal))?.reason).toBe('provider-began');
  expect(await visits()).toBe(0);
});

it('SA-43 no issuer is found in a message that is made to cost, and at once', async () => {
  const begun = process.threadCpuUsage();
  for (const part of ['<Issuer ', '<Issuer>', '<a:Issuer x="', `<Issuer>${'x'.repeat(2000)}`, '<<<', '  '])
    await tile(message(part.repeat(180_000 / part.length)));
  expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(500);
  expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
});
