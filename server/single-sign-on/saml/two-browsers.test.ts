import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { field, forger } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  acs,
  addSamlConnection,
  bounced,
  ownEntityId,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, lastFailure } from '#test/support/sso-for-test.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');
const second = otherInstanceOfFile(portal);

let attacker: BrowserForTest;
let victim: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addUser(portal, { username: 'mallory' });
  await addSamlConnection(portal, acme);
  attacker = browserForTest(portal);
  victim = browserForTest(portal);
});

const sessions = async () => (await portal.sql`select from session`).length;
const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const asked = async (by: BrowserForTest, form: Record<string, string> = {}) =>
  samlRequestAt(await departFor(by, 'alice@acme.test', form));
/** What a provider has a browser bring that is signed in there; returns where the browser is led. */
const bring = async (by: BrowserForTest, form: Record<string, string>, to: PortalForTest = portal) =>
  String((await postSamlAnswer(to, by, form)).headers.location);
const who = (by: BrowserForTest) => signedInAs(portal, by.cookies);

describe('SA-42 an attacker begins, and a victim who is signed in at the provider brings the answer', () => {
  it.each([
    ['has no cookie of ours', async () => {}],
    ['has a visit of their own', async () => void (await asked(victim))],
    ['has a used visit of their own', async () => void (await bring(victim, { ...(await garbage(victim)) }))],
  ])('SA-42 nobody is signed in, and the visit ends: the victim %s', async (_what, before) => {
    await before();
    const request = await asked(attacker);
    const form = samlAnswer(portal, acme, request);
    expect(await bring(victim, form)).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('other-browser');
    // Even the attacker's own answer is too late, and the victim's, should they ever get it.
    expect(await bring(attacker, samlAnswer(portal, acme, request, { email: 'mallory@acme.test' }))).toMatch(failed);
    expect(await bring(attacker, form, second)).toMatch(failed);
    expect([await sessions(), await who(attacker), await who(victim)]).toEqual([0, null, null]);
  });

  const garbage = async (by: BrowserForTest) => ({ SAMLResponse: 'bm8=', RelayState: (await asked(by)).state });

  it('SA-42 the victim’s open visit, named instead of the attacker’s, is spent: the signed answer is to another request', async () => {
    const request = await asked(attacker);
    const own = await asked(victim);
    const mixed = { ...samlAnswer(portal, acme, request), RelayState: own.state };
    expect(await bring(victim, mixed)).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('answer-invalid');
    expect(await bring(victim, samlAnswer(portal, acme, own))).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it('SA-42 nor is the attacker signed in by an answer that was taken from the victim, in a visit of the attacker’s own', async () => {
    const taken = samlAnswer(portal, acme, await asked(victim));
    for (const state of [taken.RelayState as string, (await asked(attacker)).state])
      expect(await bring(attacker, { ...taken, RelayState: state })).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it.each([
    ['both name another', '_another', '_another'],
    ['the unsigned one alone is right', null, '_another'],
    ['the signed one alone is right', '_another', null],
    ['both are missing', '', ''],
    ['the signed one is missing', null, ''],
  ])('SA-42 SA-26 InResponseTo must be the visit’s own request, signed: %s', async (_what, ofResponse, ofAssertion) => {
    const { id, state } = await asked(victim);
    const scene = { key: acme.key, now: portal.deps.now(), entityId: acme.entityId, acs, audience: ownEntityId };
    const f = forger({ ...scene, requestId: id });
    const data = ofAssertion === null ? {} : { InResponseTo: ofAssertion === '' ? null : ofAssertion };
    const parts = { nameId: f.nameId('alice'), attributes: f.attributes({ email: 'alice@acme.test' }) };
    const assertion = f.sign(f.assertion({ ...parts, confirmation: f.confirmation(data) }));
    const outside = ofResponse === '' ? '' : ` InResponseTo="${ofResponse ?? id}"`;
    const form = { SAMLResponse: field(f.response(assertion, { inResponseTo: outside })), RelayState: state };
    expect(await bring(victim, form)).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('answer-invalid');
    expect(await sessions()).toBe(0);
  });

  it('SA-42 the page that posts on holds no more than the post, sets no cookie and reads no database', async () => {
    const form = samlAnswer(portal, acme, await asked(attacker));
    const rows = async () =>
      await portal.sql`select (select count(*) from audit_event), (select count(*) from throttle), (select used_at from visit)`;
    const before = await rows();
    const { page, form: carried } = await bounced(portal, form);
    expect(carried).toEqual(form);
    expect(page.cookies).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  it('SA-42 the victim sees a page with a next step, and nothing that the attacker typed or requested', async () => {
    const begun = await departFor(attacker, 'mallory@acme.test', { redirectURL: '/portal/secret-plan' });
    const location = await bring(victim, samlAnswer(portal, acme, samlRequestAt(begun)));
    const page = await victim.get(location);
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('href="/portal/singleSignOn"');
    expect(`${location}${page.body}`).not.toMatch(/secret-plan|mallory/);
  });

  it('SA-42 a victim who is signed in here stays signed in as themselves, and is led on', async () => {
    await bring(victim, samlAnswer(portal, acme, await asked(victim)));
    const attackers = samlAnswer(portal, acme, await asked(attacker), { email: 'mallory@acme.test' });
    expect(await bring(victim, attackers)).toBe('/portal/portal.html');
    expect(await who(victim)).toBe('alice');
    expect(await sessions()).toBe(1);
  });
});

describe('the one browser that began and brought the answer', () => {
  const browser = () => victim;

  it('has two open visits, in two tabs: the first that returns signs in, and the other leads on in that session', async () => {
    const first = await asked(browser(), { redirectURL: '/portal/first' });
    const other = await asked(browser(), { redirectURL: '/portal/other' });
    expect(await bring(browser(), samlAnswer(portal, acme, first))).toBe('/portal/first');
    expect(await bring(browser(), samlAnswer(portal, acme, other))).toBe('/portal/other');
    expect(await sessions()).toBe(1);
  });

  it('posts the same answer again, at another instance too, and is led on', async () => {
    const form = samlAnswer(portal, acme, await asked(browser(), { redirectURL: '/portal/reports' }));
    for (const instance of [second, portal, second])
      expect(await bring(browser(), form, instance)).toBe('/portal/reports');
    expect(await sessions()).toBe(1);
  });

  it('comes too late and gets a page that keeps name and destination', async () => {
    const form = samlAnswer(portal, acme, await asked(browser(), { redirectURL: '/portal/reports' }));
    portal.wait(limits.visit);
    expect(await bring(browser(), form)).toBe('/portal/loginfail/saml?destination=%2Fportal%2Freports');
    expect((await lastFailure(portal))?.reason).toBe('request-unknown');
    second.wait(limits.visit);
  });

  it('posts a refused answer again and gets the same page, with the same reference', async () => {
    const { state } = await asked(browser(), { redirectURL: '/portal/reports' });
    const pages: string[] = [];
    for (let posts = 0; posts < 2; posts += 1) {
      const location = await bring(browser(), { SAMLResponse: 'bm8=', RelayState: state });
      expect(location).toBe('/portal/loginfail/saml?destination=%2Fportal%2Freports');
      pages.push((await browser().get(location)).body);
    }
    const events = await portal.sql<{ reference: string }[]>`
      select reference from audit_event where event = 'sso-refused'`;
    expect(events).toHaveLength(1);
    for (const page of pages) {
      expect(page).toContain('alice@acme.test');
      expect(page).toContain(events[0]?.reference);
    }
  });

  it('has lost its cookies, or keeps none: one page says so, and nothing is read', async () => {
    const form = samlAnswer(portal, acme, await asked(browser()));
    const location = await bring(browserForTest(portal), form);
    expect(location).toBe('/portal/loginfail/saml?notice=cookiesNeeded');
    expect((await browser().get(location)).body).toContain('requires a cookie');
    expect((await lastFailure(portal))?.reason).toBe('other-browser');
  });

  it('SE-15 gives nothing of an earlier person to the next one after a sign-out', async () => {
    const form = samlAnswer(portal, acme, await asked(browser(), { redirectURL: '/portal/plan-of-alice' }));
    await browser().post('/portal/logout', {});
    await asked(browser());
    const location = await bring(browser(), form);
    expect(`${location}${(await browser().get(location)).body}`).not.toMatch(/plan-of-alice|alice@/);
    expect(await sessions()).toBe(0);
  });
});
