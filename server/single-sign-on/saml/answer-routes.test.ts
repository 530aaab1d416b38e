import { beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { field, forger } from '#test/forgeries/forged-saml.ts';
import { otherInstanceOfFile } from '#test/support/portal-of-file.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { acs, bounced, ownEntityId, postSamlAnswer, samlAnswer, samlRequestAt } from '#test/support/saml-for-test.ts';
import {
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
} from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';

let attacker: BrowserForTest;
let victim: BrowserForTest;
const {
  portal,
  idps: { acme, beta },
  who,
  sessions,
  reason,
} = ssoOfFile({
  people: ['alice', 'mallory'],
  saml: { acme: {}, beta: { key: 'beta-saml', domains: ['beta.test'] } },
  also: (portal) => {
    [attacker, victim] = [browserForTest(portal), browserForTest(portal)];
  },
});
const second = otherInstanceOfFile(portal);

const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const asked = async (by: BrowserForTest, form: Record<string, string> = {}, typed = 'alice@acme.test') =>
  samlRequestAt(await departFor(by, typed, form));
const answerTo = (...[request, said]: [Parameters<typeof samlAnswer>[2], Parameters<typeof samlAnswer>[3]?]) =>
  samlAnswer(portal, acme, request, said);
/** What a provider has a browser bring that is signed in there; returns where the browser is led. */
const bring = async (by: BrowserForTest, form: Record<string, string>, to = portal) =>
  String((await postSamlAnswer(to, by, form)).headers.location);
async function expectRefused(by: BrowserForTest, form: Record<string, string>, why: string) {
  expect(await bring(by, form)).toMatch(failed);
  expect([await reason(), await sessions()]).toEqual([why, 0]);
}

describe('an attacker begins, and a victim who is signed in at the provider brings the answer', () => {
  it.each([false, true])('SA-42 nobody is signed in, and the visit ends (own visit: %s)', async (isVisiting) => {
    if (isVisiting) await asked(victim);
    const request = await asked(attacker, { redirectURL: '/portal/secret-plan' }, 'mallory@acme.test');
    const form = answerTo(request);
    await expectRefused(victim, form, 'other-browser');
    if (!isVisiting) {
      const { body } = await victim.get('/portal/loginfail/saml?notice=cookiesNeeded');
      expect(body).toMatch(/requires a cookie[\s\S]*href="\/portal\/singleSignOn"/);
      expect(body).not.toMatch(/secret-plan|mallory/);
    }
    // Even the attacker's own answer is too late, and the victim's, should they ever get it.
    expect(await bring(attacker, answerTo(request, { email: 'mallory@acme.test' }))).toMatch(failed);
    expect(await bring(attacker, form, second)).toMatch(failed);
    expect([await sessions(), await who(attacker), await who(victim)]).toEqual([0, null, null]);
  });

  it('SA-42 the victim’s open visit, named instead, is spent: the signed answer is to another request', async () => {
    const own = await asked(victim);
    await expectRefused(victim, { ...answerTo(await asked(attacker)), RelayState: own.state }, 'answer-invalid');
    expect(await bring(victim, answerTo(own))).toMatch(failed);
  });

  it('SA-42 nor is the attacker signed in by an answer that was taken from the victim', async () => {
    const taken = answerTo(await asked(victim));
    for (const state of [taken.RelayState as string, (await asked(attacker)).state])
      expect(await bring(attacker, { ...taken, RelayState: state })).toMatch(failed);
    expect(await sessions()).toBe(0);
  });

  it('SA-42 the page that posts on holds no more than the post, sets no cookie and spends no visit', async () => {
    const form = answerTo(await asked(attacker));
    const { page, form: carried } = await bounced(portal, form);
    expect([carried, page.cookies]).toEqual([form, []]);
    expect(await portal.sql`select from visit where used_at is null`).toHaveLength(1);
  });

  it('SA-42 a victim who is signed in here stays signed in as themselves, and is led on', async () => {
    await bring(victim, answerTo(await asked(victim)));
    const attackers = answerTo(await asked(attacker), { email: 'mallory@acme.test' });
    expect(await bring(victim, attackers)).toBe('/portal/portal.html');
    expect([await who(victim), await sessions()]).toEqual(['alice', 1]);
  });

  it('SA-42 the page that leads to the provider works only in the browser that began', async () => {
    const typed = { username: 'alice@acme.test', redirectURL: '/portal/reports' };
    const pressed = await attacker.post('/portal/authenticate/performSsoLogin', typed);
    const leave = String(pressed.headers.location);
    expect((await victim.get(leave)).headers.location).toBe('/portal/singleSignOn?notice=cookiesNeeded');
    await asked(victim);
    const { location } = (await victim.get(leave)).headers;
    expect(location).toBe('/portal/singleSignOn?notice=signInExpired');
    expect((await victim.get(String(location))).body).not.toContain('alice@acme.test');
  });

  it('SA-42 a second cookie of a browser that began makes both count for nothing', async () => {
    const { url, form } = await bounced(portal, answerTo(await asked(victim)));
    const cookie = Object.entries(victim.cookies).map(([name, value]) => `${name}=${value}`);
    const headers = { cookie: [...cookie, `vestibule-visit=${'A'.repeat(43)}`].join('; ') };
    expect((await portal.send({ method: 'POST', url, form, headers })).headers.location).toMatch(failed);
    expect(await sessions()).toBe(0);
  });
});

describe('an answer is to the visit’s own request, once', () => {
  it.each([
    ['both name another', '_another', '_another'],
    ['the unsigned one alone is right', null, '_another'],
    ['the signed one alone is right', '_another', null],
    ['the signed one is missing', null, ''],
  ])('SA-42 SA-26 by its InResponseTo, signed: %s', async (_what, ofResponse, ofAssertion) => {
    const { id, state } = await asked(victim);
    const scene = { key: acme.key, now: portal.deps.now(), entityId: acme.entityId, acs, audience: ownEntityId };
    const f = forger({ ...scene, requestId: id });
    const data = ofAssertion === null ? {} : { InResponseTo: ofAssertion || null };
    const parts = { nameId: f.nameId('alice'), attributes: f.attributes({ email: 'alice@acme.test' }) };
    const assertion = f.sign(f.assertion({ ...parts, confirmation: f.confirmation(data) }));
    const response = f.response(assertion, { inResponseTo: ` InResponseTo="${ofResponse ?? id}"` });
    await expectRefused(victim, { SAMLResponse: field(response), RelayState: state }, 'answer-invalid');
  });

  it('SA-26 SA-29 one to no request, an unknown or an expired one, or by another provider, is refused', async () => {
    await expectRefused(victim, answerTo(null), 'provider-began');
    await expectRefused(victim, samlAnswer(portal, beta, await asked(victim)), 'answer-invalid');
    const [{ id }, { state }] = [await asked(victim), await asked(victim, {}, 'bob@beta.test')];
    await expectRefused(victim, answerTo({ id, state }), 'answer-invalid');
    const request = await asked(victim, { redirectURL: '/portal/reports' });
    await expectRefused(victim, answerTo({ ...request, state: 'A'.repeat(43) }), 'request-unknown');
    portal.wait(limits.visit);
    expect(await bring(victim, answerTo(request))).toContain('destination=%2Fportal%2Freports');
    expect([await reason(), await sessions()]).toEqual(['request-unknown', 0]);
    second.wait(limits.visit);
  });

  it('SA-28 RC-05 posted again, at another instance too, it leads its own browser on and no other', async () => {
    const form = answerTo(await asked(victim, { redirectURL: '/portal/reports' }));
    for (const instance of [second, portal, second])
      expect(await bring(victim, form, instance)).toBe('/portal/reports');
    expect(await bring(attacker, form)).toMatch(failed);
    expect(await sessions()).toBe(1);
    await victim.post('/portal/logout', {});
    await expectRefused(victim, form, 'request-unknown');
  });

  it('SA-28 RC-05 ten at once over two instances make one session', async () => {
    for (let round = 0; round < (runsAll ? 20 : 2); round += 1) {
      await portal.sql`delete from session`;
      const browser = browserForTest(portal);
      const form = answerTo(await asked(browser));
      const { cookies } = browser;
      const post = (n: number) => bring({ ...browser, cookies: { ...cookies } }, form, n % 2 ? portal : second);
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => post(n)));
      expect(answers.filter((location) => location === '/portal/portal.html')).toHaveLength(1);
      expect(await sessions()).toBe(1);
    }
  });
});

describe('an answer costs little before it is known whose it is', () => {
  /** What costs most before any signature is known. */
  const costly = field(`<samlp:Response>${'<a b="&#65;">'.repeat(8_000)}`);

  it('SA-43 it is looked at only for an open visit of the browser that brings it, which it spends', async () => {
    const [others, own] = [await asked(attacker), await asked(victim)];
    await expectRefused(victim, { SAMLResponse: costly, RelayState: own.state }, 'answer-invalid');
    const begun = process.threadCpuUsage();
    for (const state of ['A'.repeat(43), others.state, own.state])
      expect(await bring(victim, { SAMLResponse: costly, RelayState: state })).toMatch(failed);
    expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(500);
    expect(await bring(victim, answerTo(own))).toMatch(failed);
    expect(await portal.sql`select from audit_event where reason = 'answer-invalid'`).toHaveLength(1);
  });

  it('SA-43 whoever sends too many answers that fail has to wait; a visit begins and ends meanwhile', async () => {
    await bring(victim, { SAMLResponse: 'bm8=' });
    const until = new Date(portal.deps.now().getTime() + 60_000);
    await portal.sql`update throttle set failures = 1e6, blocked_until = ${until} where key like 'answer-%'`;
    const slowed = await postSamlAnswer(portal, victim, { SAMLResponse: 'bm8=' });
    expect([slowed.statusCode, slowed.headers['retry-after'], await reason()]).toEqual([429, '60', 'throttled']);
    expect(await bring(victim, answerTo(await asked(victim)))).toBe('/portal/portal.html');
  });
});

describe('an answer that nobody asked for, from a tile at the provider', () => {
  beforeEach(() => set({ mayBegin: true }));
  /** A tile at the provider has the browser post an answer that nobody asked for. */
  const press = (form = answerTo(null)) => postSamlAnswer(portal, victim, form);
  const pressed = async (form?: Record<string, string>) => String((await press(form)).headers.location);
  /** A press on the tile, and what the provider answers to the visit that it begins. */
  async function signInByTile(email: string): Promise<string> {
    const request = samlRequestAt(await followLeavePage(victim, await press()));
    return await bring(victim, answerTo(request, { email }));
  }
  const visits = async () => (await portal.sql`select from visit`).length;
  const set = (settings: object, at = 'acme-saml') =>
    portal.sql`update sso_connection set settings = settings || ${JSON.stringify(settings)} where key like ${at}`;

  it('SA-26 begins a visit of this browser at once; its own answer counts, and whoever is signed in stays so', async () => {
    const begun = await pressed({ ...answerTo(null), RelayState: 'https://evil.example/' });
    expect(begun).toMatch(/^\/portal\/authenticate\/leave\?/);
    expect([await who(victim), await visits()]).toEqual([null, 1]);
    expect(await signInByTile('alice@acme.test')).toBe('/portal/portal.html');
    await press(answerTo(null, { email: 'mallory@acme.test' }));
    expect(await who(victim)).toBe('alice');
    expect(await signInByTile('mallory@acme.test')).toContain('/portal/logout?confirm=&destination');
    expect(await who(victim)).toBe('alice');
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
    const { state } = samlRequestAt(await followLeavePage(victim, await press()));
    await press({ ...answerTo(null), RelayState: state });
    expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
  });

  it.each([
    ['is allowed at no connection', 'provider-began', /--idp-initiated on/, { mayBegin: false }, undefined],
    ['is of no connection', 'provider-began', /no connection/, { entityId: 'https://other.test/' }, undefined],
    ['answers another request', 'request-unknown', /no request of ours/, {}, { id: '_another', state: '' }],
  ] as const)('SA-26 a message that %s begins nothing', async (_what, why, words, settings, request) => {
    await set(settings);
    const { SAMLResponse = '' } = answerTo(request ?? null);
    expect(await pressed({ SAMLResponse })).toMatch(/^\/portal\/loginfail\/saml/);
    expect(await lastFailure(portal)).toMatchObject({
      reason: why,
      steps: [{ outcome: expect.stringMatching(words) }],
    });
    expect(await visits()).toBe(0);
  });

  it('SA-26 an issuer that may begin at two connections names neither', async () => {
    await set({ mayBegin: true, entityId: acme.entityId }, '%');
    expect(await pressed()).toMatch(failed);
    expect((await lastFailure(portal))?.steps[0]?.outcome).toMatch(/-saml has the same issuer/);
  });

  it('SA-43 no issuer is found in a message that is made to cost, and at once', async () => {
    const begun = process.threadCpuUsage();
    for (const part of ['<Issuer ', '<Issuer>', '<a:Issuer x="', `<Issuer>${'x'.repeat(2000)}`, '<<<', '  '])
      await press({ SAMLResponse: field(part.repeat(180_000 / part.length)) });
    expect(process.threadCpuUsage(begun).user / 1000).toBeLessThan(500);
    expect(await lastFailure(portal)).toMatchObject({ reason: 'answer-invalid' });
  });
});
