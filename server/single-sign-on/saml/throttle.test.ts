import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { field, forger } from '#testing/forged-saml.ts';
import { type PortalForTest, testAddress } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  acs,
  addSamlConnection,
  crossSite,
  ownEntityId,
  postSamlAnswer,
  type SamlProviderForTest,
  samlAnswer,
  samlProvider,
  samlRequestAt,
} from '#testing/saml-sign-in-for-test.ts';
import { browserForTest, departFor, lastFailure } from '#testing/sso-for-test.ts';

let acme: SamlProviderForTest;
let stranger: SamlProviderForTest;
const portal = portalOfFile();
beforeAll(async () => {
  [acme, stranger] = (await Promise.all(
    ['idp.acme.test', 'stranger.test'].map((name) => samlProvider(name, portal.deps.now())),
  )) as [SamlProviderForTest, SamlProviderForTest];
});
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, acme);
});

const { freeFailures, firstWait, longestWait } = limits.throttle.costly;
const tries = limits.throttle.code.freeFailures;
const post = (form: Record<string, string>, from = '203.0.113.7', to: PortalForTest = portal) =>
  to.send({ method: 'POST', url: new URL(acs).pathname, form, from });

/** An answer to an open request in the provider's name, by another key. */
async function forgedAnswer(): Promise<Record<string, string>> {
  const { id, state } = samlRequestAt(await departFor(browserForTest(portal)));
  const f = forger({
    key: stranger.key,
    now: portal.deps.now(),
    entityId: acme.entityId,
    acs,
    audience: ownEntityId,
    requestId: id,
  });
  return { SAMLResponse: field(f.response(f.sign(f.assertion()))), RelayState: state };
}

const goodAnswer = async () => samlAnswer(portal, acme, samlRequestAt(await departFor(browserForTest(portal))));

/** Failures of an address: answers to no request, as any page that is open there can post them. */
async function failOften(count = freeFailures, from?: string): Promise<void> {
  const { SAMLResponse = '' } = await forgedAnswer();
  for (let failure = 0; failure < count; failure += 1)
    expect((await post({ SAMLResponse }, from)).headers.location).toContain('/loginfail/saml');
}

it('SA-43 an address whose answers let nobody in soon has to wait, and others do not', async () => {
  await failOften();
  const { SAMLResponse = '' } = await goodAnswer();
  const slowed = await post({ SAMLResponse });
  expect([slowed.statusCode, Number(slowed.headers['retry-after'])]).toEqual([429, firstWait / 1000]);
  const { reason, steps } = (await lastFailure(portal)) ?? {};
  expect([reason, steps?.[0]?.outcome]).toEqual(['throttled', expect.stringMatching(/^unverified answers .*: wait/)]);
  expect((await post({ SAMLResponse }, '203.0.113.8')).statusCode).toBe(303);
  portal.wait(longestWait);
  expect((await post({ SAMLResponse })).statusCode).toBe(303);
});

it('SA-43 an answer to a request is read while its address waits: any page open there can make it', async () => {
  await failOften();
  expect((await post(await goodAnswer())).headers.location).toContain('/saml/finish?');
});

it('SA-43 few answers to one request are read, and those to others are', async () => {
  const forged = await forgedAnswer();
  for (let failure = 0; failure < tries; failure += 1) expect((await post(forged)).statusCode).toBe(303);
  expect((await lastFailure(portal))?.steps[0]?.outcome).toContain('not verified');
  expect((await post(forged, '203.0.113.8')).statusCode).toBe(429);
  expect((await post(await goodAnswer())).headers.location).toContain('/saml/finish?');
});

it('SA-43 no answer to no request is read while its address waits', async () => {
  await failOften();
  const { SAMLResponse = '' } = await forgedAnswer();
  const [before] = await portal.sql`select count(*) from audit_event`;
  for (let more = 0; more < 20; more += 1) expect((await post({ SAMLResponse })).statusCode).toBe(429);
  const [after] = await portal.sql`select count(*) from audit_event`;
  expect(Number(after?.count) - Number(before?.count)).toBe(1);
});

it('SA-43 a genuinely signed answer does not count as a failure, whoever it is about and however often it comes', async () => {
  await failOften(freeFailures - 1, testAddress);
  const answered = async (parts: { email?: string; id?: string }) => {
    const browser = browserForTest(portal);
    const form = samlAnswer(portal, acme, samlRequestAt(await departFor(browser)), parts);
    const posted = await postSamlAnswer(portal, browser, form);
    expect(posted.statusCode).toBe(303);
    return { browser, location: String(posted.headers.location) };
  };
  for (const [email, reason] of [
    ['nobody@acme.test', 'unknown-user'],
    ['bob@beta.test', 'foreign-domain'],
  ] as const) {
    const { browser, location } = await answered({ email });
    await browser.get(location, crossSite);
    expect((await lastFailure(portal))?.reason).toBe(reason);
  }
  await answered({ id: '_same' });
  expect((await answered({ id: '_same' })).location).toMatch(/^\/portal\/loginfail\/saml/);
  expect((await lastFailure(portal))?.reason).toBe('answer-used');
  // One more of the others is not too many.
  await failOften(1, testAddress);
  expect((await post({ SAMLResponse: 'x' }, testAddress)).statusCode).toBe(429);
});

it('a company that signs in from one address is not slowed down by its valid answers', async () => {
  for (let visit = 0; visit < freeFailures + 5; visit += 1)
    expect((await post(await goodAnswer())).headers.location).toContain('/saml/finish?');
});
