import { beforeEach, describe, expect, it } from 'vitest';
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

/** Half sessions that wait for an app's code, its registration, a code by email, its registration. */
let held: Record<'app' | 'registerApp' | 'mail' | 'registerMail', Browser>;
let secret: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
  await portal.sql`insert into email_factor select id, now() from portal_user where username = 'bob'`;
  held = {
    app: await halfSession(portal, 'alice'),
    registerApp: await halfSession(portal, 'adam'),
    mail: await halfSession(portal, 'bob'),
    registerMail: await halfSession(portal, 'beth'),
  };
});

const leadsTo = async (path: string, cookies: Browser = {}, from?: string) => {
  const { status, location } = await pageOf(portal, { url: `/portal/${path}`, cookies, ...(from && { from }) });
  return location ?? status;
};

describe('the screens of the second factor with a half session', () => {
  const query = 'redirectURL=%2Fportal%2Fx&notice=codeWrong&recovery=true&lang=de';
  const screens = {
    app: 'twoFactor',
    registerApp: 'twoFactorRegistration',
    mail: 'twoFactor',
    registerMail: 'twoFactorRegistration',
  };

  it.each(['app', 'registerApp', 'mail', 'registerMail'] as const)(
    'MF-14 one that waits for: %s is redirected to its own screen and texts, everything else kept',
    async (kind) => {
      const flag = kind.toLowerCase().includes('mail') ? '&codeSentViaEmail=true' : '';
      const right = `${screens[kind]}?${query}${flag}`;
      expect(await leadsTo(right, held[kind])).toBe(200);
      for (const screen of ['twoFactor', 'twoFactorRegistration'])
        for (const claim of ['', '&codeSentViaEmail=true', '&codeSentViaEmail=x&codeSentViaEmail=true']) {
          const location = await leadsTo(`${screen}?${query}${claim}`, held[kind]);
          if (location === 200)
            expect([screen, claim === '&codeSentViaEmail=true']).toEqual([screens[kind], flag !== '']);
          else expect(location).toBe(`/portal/${right}`);
        }
      expect(await leadsTo('portal.html?a=b', held[kind])).toBe(
        '/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html%3Fa%3Db',
      );
      expect(await leadsTo('login', held[kind])).toBe(200);
    },
  );
});

describe('the screens of the second factor with nothing pending', () => {
  it.each(['twoFactor', 'twoFactorRegistration', 'twoFactor/'])('%s leads to the password', async (path) => {
    expect(await leadsTo(path)).toBe('/portal/login');
    expect(await leadsTo(path, { 'vestibule-session': 'x'.repeat(42) })).toBe('/portal/login');
    expect(await leadsTo(`${path}?redirectURL=%2Fportal%2Fx%3Fa%3Db&lang=de&codeSentViaEmail=true`)).toBe(
      '/portal/login?destination=%2Fportal%2Fx%3Fa%3Db&lang=de',
    );
  });

  it('a half session that has ended does not count, and the sign-in form says why', async () => {
    for (const code of wrongCodes(portal, secret, limits.codeTries)) await verify(portal, code, held.app);
    const query = 'redirectURL=%2Fportal%2Fx&lang=de';
    const said = (notice: string) => `/portal/login?notice=${notice}&destination=%2Fportal%2Fx&lang=de`;
    expect(await leadsTo(`twoFactor?${query}`, held.app)).toBe(said('tooManyCodes'));
    await portal.sql`update customer set allowed_networks = '{198.51.100.0/24}'`;
    expect(await leadsTo(`twoFactor?${query}`, held.mail, '192.0.2.1')).toBe(said('signInExpired'));
    expect(await leadsTo('twoFactor?codeSentViaEmail=true', held.mail)).toBe(200);
    portal.wait(limits.halfSession);
    for (const cookies of [held.app, held.mail])
      expect(await leadsTo(`twoFactor?${query}`, cookies)).toBe(said('signInExpired'));
  });
});
