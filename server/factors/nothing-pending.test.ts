import { describe, expect, it } from 'vitest';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  giveApp,
  halfSession,
  pageOf,
  startTwoFactorAfresh,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const leadsTo = async (path: string, cookies: Browser = {}, from?: string) => {
  const { status, location } = await pageOf(portal, { url: `/portal/${path}`, cookies, ...(from && { from }) });
  return location ?? status;
};

describe('the screens of the second factor with nothing pending', () => {
  it.each(['twoFactor', 'twoFactorRegistration', 'twoFactor/'])(
    '%s leads to the password, with destination and language kept',
    async (path) => {
      expect(await leadsTo(path)).toBe('/portal/login');
      expect(await leadsTo(`${path}?redirectURL=%2Fportal%2Fx%3Fa%3Db&lang=de&codeSentViaEmail=true`)).toBe(
        '/portal/login?destination=%2Fportal%2Fx%3Fa%3Db&lang=de',
      );
      expect(await leadsTo(`${path}?redirectURL=https%3A%2F%2Fevil.example&lang=xx`)).toBe(
        '/portal/login?destination=https%3A%2F%2Fevil.example',
      );
    },
  );

  it('signed in long ago, the screen of a code leads to the destination', async () => {
    const path = 'twoFactor';
    const cookies = { 'vestibule-session': (await portal.signIn('pat', testPassword)).cookies[0]?.value ?? '' };
    portal.wait(limits.freshSignIn + 1);
    expect(await leadsTo(`${path}?redirectURL=%2Fportal%2Fx`, cookies)).toBe('/portal/x');
    for (const query of ['', '?redirectURL=https%3A%2F%2Fevil.example', '?redirectURL=%2F%2Fevil.example'])
      expect(await leadsTo(path + query, cookies)).toBe('/portal/portal.html');
  });

  it('a half session that has ended does not count: by time, by its attempts, from a network that is not admitted', async () => {
    const secret = await giveApp(portal, 'alice');
    const [alice, bob] = [await halfSession(portal, 'alice'), await halfSession(portal, 'bob')];
    for (const code of wrongCodes(portal, secret, limits.codeTries)) await verify(portal, code, alice);
    expect(await leadsTo('twoFactor?redirectURL=%2Fportal%2Fx&lang=de', alice)).toBe(
      '/portal/login?notice=tooManyCodes&destination=%2Fportal%2Fx&lang=de',
    );
    await portal.sql`update customer set allowed_networks = '{198.51.100.0/24}'`;
    expect(await leadsTo('twoFactor', bob, '192.0.2.1')).toBe('/portal/login?notice=signInExpired');
    expect(await leadsTo('twoFactorRegistration?codeSentViaEmail=true', bob)).toBe(200);
    portal.wait(limits.halfSession);
    const screen = 'twoFactorRegistration?codeSentViaEmail=true&redirectURL=%2Fportal%2Fx&lang=de';
    const said = '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx&lang=de';
    expect(await leadsTo(screen, bob)).toBe(said);
    // The five wrong codes are not kept longer than that.
    expect(await leadsTo('twoFactor?redirectURL=%2Fportal%2Fx&lang=de', alice)).toBe(said);
  });

  it('signing out or cancelling shows no notice: the cookie is gone', async () => {
    const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
    for (const cookies of [await halfSession(portal, 'bob'), cookiesOf(await portal.signIn('pat', testPassword))]) {
      const answer = await portal.send({ url: '/portal/logout', cookies, headers });
      // The browser keeps the answer's cookies, and drops the session cookie.
      Object.assign(cookies, cookiesOf(answer));
      for (const [name, value] of Object.entries(cookies)) if (value === '') delete cookies[name];
      expect(await leadsTo('twoFactor?redirectURL=%2Fportal%2Fx', cookies)).toBe(
        '/portal/login?destination=%2Fportal%2Fx',
      );
    }
  });

  it('a cookie that cannot belong to a sign-in is ignored', async () => {
    expect(await leadsTo('twoFactor', { 'vestibule-session': 'x'.repeat(42) })).toBe('/portal/login');
  });
});
