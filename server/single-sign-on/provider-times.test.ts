import { describe, expect, it } from 'vitest';
import { day, hour, limits, minute, second } from '#server/limits.ts';
import { authnStatement, postSamlAnswer, samlAnswer, samlRequestAt } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor, signInByOidc } from '#test/support/sso-for-test.ts';
import { ssoOfFile } from '#test/support/sso-of-file.ts';
import { codeByMail, registerApp, registrationUrl, verifyUrl } from '#test/support/two-factor-for-test.ts';

let browser: BrowserForTest;
const { portal, idps, ops, reason } = ssoOfFile({
  people: [{ username: 'alice', email: 'alice@op.test', passwordHash: null }, 'sam'],
  oidc: { op: { domains: ['op.test'] } },
  saml: { idp: {} },
  also: (portal) => {
    browser = browserForTest(portal);
  },
});
const { op } = ops;
const { idp } = idps;

const sessions = () => portal.sql`select ends_at as "endsAt", proven_at as "provenAt" from session`;
const registrationPage = '/portal/twoFactorRegistration';
const toRegister = { redirectURL: registrationPage };

describe('when a person signed in at an OpenID provider', () => {
  const seconds = () => Math.floor(portal.deps.now().getTime() / 1000);
  const register = async () =>
    (await browser.get(registrationUrl, { headers: { 'sec-fetch-site': 'same-origin' } })).statusCode;
  /** Signs in at the provider, which reports this authentication time. */
  const signIn = async (authTime: unknown, form: Record<string, string> = {}) => {
    op.bend({ claims: (honest) => ({ ...honest, email: 'alice@op.test', auth_time: authTime }) });
    return await signInByOidc(op, browser, 'alice@op.test', form);
  };

  it('SA-44 an app is set up after a fresh sign-in there, which is asked for, not just because the person came back', async () => {
    const { searchParams } = new URL(await departFor(browser, 'alice@op.test', toRegister));
    expect([searchParams.get('max_age'), searchParams.get('prompt')]).toEqual(['0', 'login']);
    const clock = limits.providerClock / 1000;
    for (const authTime of [seconds() - limits.freshSignIn / 1000 - 1, undefined, seconds() + clock + 1]) {
      expect(await signIn(authTime, toRegister), String(authTime)).toBe(registrationPage);
      expect(await register(), String(authTime)).toBe(409);
    }
    expect((await browser.get(registrationPage)).body).toContain('Sign in again to continue');
    // A time in the future proves nothing later either.
    portal.wait(20 * minute);
    expect(await register()).toBe(409);
    await signIn(seconds() + clock, toRegister);
    await registerApp(portal, browser.cookies);
  });
});

describe('what a SAML provider says of its session', () => {
  const at = (time: number) => new Date(portal.deps.now().getTime() + time);
  /** An AuthnStatement with times relative to now. */
  const authn = ({ signedIn = -second, ends }: { signedIn?: number; ends?: number } = {}) =>
    authnStatement(portal.deps.now(), {
      AuthnInstant: at(signedIn).toISOString(),
      ...(ends !== undefined && { SessionNotOnOrAfter: at(ends).toISOString() }),
    });
  const signIn = async (statement: string) => {
    const request = samlRequestAt(await departFor(browser, 'sam@acme.test'));
    const answer = samlAnswer(portal, idp, request, { email: 'sam@acme.test', authn: statement });
    return String((await postSamlAnswer(portal, browser, answer)).headers.location);
  };
  const endsAt = async () => (await sessions()).map((row) => row.endsAt);

  it('SA-44 its end ends the session here, the earliest of several; the portal’s own limit applies beyond', async () => {
    await signIn(authn({ ends: hour }) + authn({ ends: 10 * second }));
    expect(await endsAt()).toEqual([at(10 * second)]);
    portal.wait(9 * second);
    expect((await browser.get('/portal/session')).statusCode).toBe(200);
    portal.wait(second);
    expect((await browser.get('/portal/session')).statusCode).toBe(401);
    for (const ends of [{ ends: 365 * day }, {}]) {
      await portal.sql`delete from session`;
      await signIn(authn(ends));
      expect(await endsAt()).toEqual([at(portal.deps.config.sessionAbsolute)]);
    }
  });

  it('SA-44 an end in the past lets nobody in, even within the allowed clock skew', async () => {
    for (const [ends, why] of [
      [-second, 'provider-session-over'],
      [0, 'provider-session-over'],
      [-hour, 'answer-invalid'],
    ] as const) {
      await signIn(authn({ ends }));
      expect(await reason()).toBe(why);
    }
    expect(await endsAt()).toEqual([]);
  });

  it('SA-44 the end holds through a second factor, however late it comes', async () => {
    await portal.sql`update customer set two_factor = 'email'`;
    await signIn(authn({ ends: 20 * minute }));
    expect(await endsAt()).toEqual([at(limits.halfSession)]);
    const ends = at(20 * minute);
    portal.wait(5 * minute);
    await browser.post(verifyUrl, { code: await codeByMail(portal, 'sam') });
    expect(await endsAt()).toEqual([ends]);
  });

  it('SA-44 a time before all proves nothing', async () => {
    await signIn(authn().replace(/AuthnInstant="[^"]+"/, 'AuthnInstant="0000-01-01T00:00:00Z"'));
    expect(await sessions()).toMatchObject([{ provenAt: null }]);
  });
});
