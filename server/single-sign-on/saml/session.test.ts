import { inflateRawSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { day, hour, limits, minute, second } from '#server/limits.ts';
import { forger } from '#test/forgeries/forged-saml.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  acs,
  addSamlConnection,
  ownEntityId,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import {
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  lastFailure,
} from '#test/support/sso-for-test.ts';
import { keepHouse } from '../../operations/housekeeping.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  browser = browserForTest(portal);
});

const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const sessionStatus = async () =>
  (await browser.get('/portal/session', { headers: { accept: 'application/json' } })).statusCode;

/** An AuthnStatement with times relative to now. */
function authn({ signedIn = -second, ends }: { signedIn?: number; ends?: number | null } = {}): string {
  const { entityId, key } = acme;
  const made = forger({ key, now: portal.deps.now(), entityId, acs, audience: ownEntityId, requestId: null });
  return made.authn({
    AuthnInstant: made.at(signedIn),
    ...(typeof ends === 'number' && { SessionNotOnOrAfter: made.at(ends) }),
  });
}

async function answerTo(url: string, statement: string) {
  return await postSamlAnswer(portal, browser, samlAnswer(portal, acme, samlRequestAt(url), { authn: statement }));
}
const signIn = async (statement: string) => await answerTo(await departFor(browser), statement);
const requestOf = (url: string) =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64')).toString();

describe('the end of the session at the provider', () => {
  beforeEach(() => addSamlConnection(portal, acme));

  it('SA-44 ends the session here, to the second, like an expired one', async () => {
    expect((await signIn(authn({ ends: 10 * second }))).headers.location).toBe('/portal/portal.html');
    const { body } = await browser.get('/portal/session', { headers: { accept: 'application/json' } });
    expect(JSON.parse(body).expiresAt).toBe(new Date(portal.deps.now().getTime() + 10 * second).toISOString());
    portal.wait(9 * second);
    expect(await sessionStatus()).toBe(200);
    portal.wait(second);
    expect(await sessionStatus()).toBe(401);
    expect((await browser.get('/portal/portal.html')).statusCode).toBe(302);
    await keepHouse(portal.deps);
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('SA-44 in the past lets nobody in, even within the allowed clock skew', async () => {
    for (const ends of [-second, 0]) {
      expect((await signIn(authn({ ends }))).headers.location).toMatch(failed);
      expect((await lastFailure(portal))?.reason).toBe('provider-session-over');
    }
    expect((await signIn(authn({ ends: -hour }))).headers.location).toMatch(failed);
    expect((await lastFailure(portal))?.reason).toBe('answer-invalid');
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('SA-44 the earliest of several counts; the portal’s own limit applies if it is far away or missing', async () => {
    await signIn(authn({ ends: hour }) + authn({ ends: minute }));
    const endsAt = async () =>
      (await portal.sql<{ endsAt: Date }[]>`select ends_at as "endsAt" from session`)[0]?.endsAt;
    expect(await endsAt()).toEqual(new Date(portal.deps.now().getTime() + minute));
    const { sessionAbsolute } = portal.deps.config;
    for (const ends of [365 * day, null]) {
      await signIn(authn({ ends }));
      expect(await endsAt()).toEqual(new Date(portal.deps.now().getTime() + sessionAbsolute));
    }
  });

  it('SA-44 holds through a second factor, however late it comes', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    await signIn(authn({ ends: 20 * minute }));
    expect(await portal.sql`select ends_at from session where stage = 'half'`).toEqual([
      { ends_at: new Date(portal.deps.now().getTime() + limits.halfSession) },
    ]);
    const ends = new Date(portal.deps.now().getTime() + 20 * minute);
    await portal.workOff();
    portal.wait(5 * minute);
    await portal.workOff();
    const code = /\b(\d{6})\b/.exec(portal.mails.at(-1)?.text ?? '')?.[1] ?? '';
    await browser.post('/portal/two-factor-authentication/verify', { code });
    expect(await portal.sql`select stage, ends_at from session`).toEqual([{ stage: 'full', ends_at: ends }]);
    await portal.sql`delete from session`;
    await signIn(authn({ ends: minute }));
    expect(await portal.sql`select ends_at from session where stage = 'half'`).toEqual([
      { ends_at: new Date(portal.deps.now().getTime() + minute) },
    ]);
  });
});

describe('how long ago people may have signed in at the provider', () => {
  it.each(['0000-01-01T00:00:00Z', '0000-12-31T00:00:00Z', '1969-12-31T23:59:59Z'])(
    'SA-44 a sign-in at %s has no known time: it breaks nothing, and proves nothing',
    async (at) => {
      await addSamlConnection(portal, acme);
      const statement = authn().replace(/AuthnInstant="[^"]+"/, `AuthnInstant="${at}"`);
      expect((await signIn(statement)).headers.location).toBe('/portal/portal.html');
      expect(await portal.sql`select proven_at as at from session`).toEqual([{ at: null }]);
    },
  );

  const limited = (seconds: number | null) =>
    portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ maxAuthenticationAge: seconds })}`;
  beforeEach(() => addSamlConnection(portal, acme));

  it('SA-44 is up to the provider if the operator sets no maximum', async () => {
    expect((await signIn(authn({ signedIn: -365 * day }))).headers.location).toBe('/portal/portal.html');
    await limited(null);
    expect((await signIn(authn({ signedIn: -365 * day }))).headers.location).toBe('/portal/portal.html');
  });

  it('SA-44 a sign-in within the maximum succeeds, and one from a year ago is asked for again, once', async () => {
    await limited(hour / 1000);
    expect((await signIn(authn({ signedIn: -hour }))).headers.location).toBe('/portal/portal.html');
    await browser.post('/portal/logout', {});
    // Only a sign-out makes the provider authenticate again.
    delete browser.cookies['vestibule-connection'];
    const first = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' });
    expect(requestOf(first)).not.toContain('ForceAuthn');
    const again = await followLeavePage(browser, await answerTo(first, authn({ signedIn: -365 * day })));
    expect(requestOf(again)).toContain('ForceAuthn="true"');
    expect(await sessionStatus()).toBe(401);
    const second = await answerTo(again, authn({ signedIn: -365 * day }));
    expect(second.headers.location).toMatch(failed);
    expect(second.headers.location).toContain('destination=%2Fportal%2Freports');
    expect((await lastFailure(portal))?.reason).toBe('authentication-too-old');
    expect(await sessionStatus()).toBe(401);
  });

  it('SA-44 a person who authenticates again is signed in, at the destination', async () => {
    await limited(hour / 1000);
    const first = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' });
    const again = await followLeavePage(browser, await answerTo(first, authn({ signedIn: -2 * hour })));
    expect((await answerTo(again, authn())).headers.location).toBe('/portal/reports');
    expect(await sessionStatus()).toBe(200);
  });

  it('SA-44 of several sign-ins in one answer the oldest counts', async () => {
    await limited(hour / 1000);
    const answer = await signIn(authn() + authn({ signedIn: -2 * hour }));
    expect(answer.headers.location).toMatch(/^\/portal\/authenticate\/leave/);
    expect(await sessionStatus()).toBe(401);
  });
});
