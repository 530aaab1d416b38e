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
import { codeByMail, verifyUrl } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const acme = samlProviderOfFile(portal, 'idp.acme.test');

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  await addUser(portal, { username: 'alice' });
  await addSamlConnection(portal, acme);
  browser = browserForTest(portal);
});

const failed = /^\/portal\/loginfail\/saml(?:\?|$)/;
const at = (time: number) => new Date(portal.deps.now().getTime() + time);
const session = () => browser.get('/portal/session', { headers: { accept: 'application/json' } });
const endsAt = async () => (await portal.sql`select ends_at as "endsAt" from session`).map((row) => row.endsAt);

/** An AuthnStatement with times relative to now. */
function authn({ signedIn = -second, ends }: { signedIn?: number; ends?: number | null } = {}): string {
  const { entityId, key } = acme;
  const made = forger({ key, now: portal.deps.now(), entityId, acs, audience: ownEntityId, requestId: null });
  const end = typeof ends === 'number' && { SessionNotOnOrAfter: made.at(ends) };
  return made.authn({ AuthnInstant: made.at(signedIn), ...end });
}

const answerTo = (url: string, statement: string) =>
  postSamlAnswer(portal, browser, samlAnswer(portal, acme, samlRequestAt(url), { authn: statement }));
const signIn = async (statement: string) =>
  String((await answerTo(await departFor(browser), statement)).headers.location);
const isForced = (url: string) =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64'))
    .toString()
    .includes('ForceAuthn="true"');

describe('the end of the session at the provider', () => {
  it('SA-44 ends the session here, to the second, like an expired one', async () => {
    expect(await signIn(authn({ ends: 10 * second }))).toBe('/portal/portal.html');
    expect((await session()).json().expiresAt).toBe(at(10 * second).toISOString());
    portal.wait(9 * second);
    expect((await session()).statusCode).toBe(200);
    portal.wait(second);
    expect((await session()).statusCode).toBe(401);
  });

  it('SA-44 in the past lets nobody in, even within the allowed clock skew', async () => {
    for (const [ends, reason] of [
      [-second, 'provider-session-over'],
      [0, 'provider-session-over'],
      [-hour, 'answer-invalid'],
    ] as const) {
      expect(await signIn(authn({ ends }))).toMatch(failed);
      expect((await lastFailure(portal))?.reason).toBe(reason);
    }
    expect(await endsAt()).toEqual([]);
  });

  it('SA-44 the earliest of several counts; the portal’s own limit applies if it is far away or missing', async () => {
    await signIn(authn({ ends: hour }) + authn({ ends: minute }));
    expect(await endsAt()).toEqual([at(minute)]);
    for (const ends of [365 * day, null]) {
      await signIn(authn({ ends }));
      expect(await endsAt()).toEqual([at(portal.deps.config.sessionAbsolute)]);
    }
  });

  it('SA-44 holds through a second factor, however late it comes', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    await signIn(authn({ ends: 20 * minute }));
    expect(await endsAt()).toEqual([at(limits.halfSession)]);
    const ends = at(20 * minute);
    portal.wait(5 * minute);
    await browser.post(verifyUrl, { code: await codeByMail(portal, 'alice') });
    expect(await endsAt()).toEqual([ends]);
    await portal.sql`delete from session`;
    await signIn(authn({ ends: minute }));
    expect(await endsAt()).toEqual([at(minute)]);
  });
});

describe('how long ago people may have signed in at the provider', () => {
  const limited = (seconds: number | null) =>
    portal.sql`update sso_connection set settings = settings || ${JSON.stringify({ maxAuthenticationAge: seconds })}`;

  it.each(['0000-01-01T00:00:00Z', '1969-12-31T23:59:59Z'])(
    'SA-44 a sign-in at %s has no known time: it breaks nothing, and proves nothing',
    async (time) => {
      const statement = authn().replace(/AuthnInstant="[^"]+"/, `AuthnInstant="${time}"`);
      expect(await signIn(statement)).toBe('/portal/portal.html');
      expect(await portal.sql`select proven_at as at from session`).toEqual([{ at: null }]);
    },
  );

  it('SA-44 is up to the provider if the operator sets no maximum', async () => {
    expect(await signIn(authn({ signedIn: -365 * day }))).toBe('/portal/portal.html');
  });

  it('SA-44 one beyond the maximum is asked for again, once; of several in one answer the oldest counts', async () => {
    await limited(hour / 1000);
    expect(await signIn(authn({ signedIn: -hour }))).toBe('/portal/portal.html');
    await portal.sql`delete from session`;
    const first = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' });
    expect(isForced(first)).toBe(false);
    const asked = await answerTo(first, authn() + authn({ signedIn: -365 * day }));
    const again = await followLeavePage(browser, asked);
    expect([isForced(again), (await session()).statusCode]).toEqual([true, 401]);
    const { location } = (await answerTo(again, authn({ signedIn: -365 * day }))).headers;
    expect(location).toBe('/portal/loginfail/saml?destination=%2Fportal%2Freports');
    expect((await lastFailure(portal))?.reason).toBe('authentication-too-old');
  });

  it('SA-44 a person who authenticates again is signed in, at the destination', async () => {
    await limited(hour / 1000);
    const first = await departFor(browser, 'alice@acme.test', { redirectURL: '/portal/reports' });
    const again = await followLeavePage(browser, await answerTo(first, authn({ signedIn: -2 * hour })));
    expect((await answerTo(again, authn())).headers.location).toBe('/portal/reports');
  });
});
