import { beforeEach, describe, expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  giveApp,
  halfSession,
  pageOf,
  registrationUrl,
  startTwoFactorAfresh,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

/** Half sessions that wait for an app's code, its registration, a code by email, its registration. */
let held: Record<'app' | 'registerApp' | 'mail' | 'registerMail', Browser>;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await giveApp(portal, 'alice');
  await portal.sql`insert into email_factor select id, now() from portal_user where username = 'bob'`;
  held = {
    app: await halfSession(portal, 'alice'),
    registerApp: await halfSession(portal, 'adam'),
    mail: await halfSession(portal, 'bob'),
    registerMail: await halfSession(portal, 'beth'),
  };
});

const leadsTo = async (path: string, cookies: Browser) => {
  const { status, location } = await pageOf(portal, { url: `/portal/${path}`, cookies });
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
        for (const claim of [
          '',
          '&codeSentViaEmail=true',
          '&codeSentViaEmail=false',
          '&codeSentViaEmail=x&codeSentViaEmail=true',
        ]) {
          const location = await leadsTo(`${screen}?${query}${claim}`, held[kind]);
          // Whatever the address says, after one redirect it is the right one.
          if (location !== 200) expect(await leadsTo(String(location).slice('/portal/'.length), held[kind])).toBe(200);
          if (location !== 200) expect(location).toBe(`/portal/${right}`);
          else expect([screen, claim === '&codeSentViaEmail=true']).toEqual([screens[kind], flag !== '']);
        }
      expect(await leadsTo(`${screens[kind]}/?${query}${flag}`, held[kind])).toBe(200);
      expect(await leadsTo('portal.html?a=b', held[kind])).toBe(
        '/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html%3Fa%3Db',
      );
      expect(await leadsTo('login', held[kind])).toBe(200);
    },
  );

  it('each page contains its own data, and nothing else', async () => {
    const flag = '?codeSentViaEmail=true';
    const page = async (kind: keyof typeof held, search = '') =>
      await pageOf(portal, { url: `/portal/${screens[kind]}${search}`, cookies: held[kind] });
    const base = { mayRemember: true, mayRecover: false, sendAgainAfter: 0 };
    expect((await page('app')).screen).toEqual({ name: 'twoFactor', secondFactor: { ...base, account: 'alice' } });
    expect(await page('mail', flag)).toMatchObject({ secondFactor: { ...base, account: 'bob', sendAgainAfter: 30 } });
    portal.wait(limits.emailCodeSendEvery - 1);
    const later = await page('registerMail', flag);
    expect(later.screen).toEqual({
      name: 'twoFactorRegistration',
      secondFactor: { ...base, account: 'beth', sendAgainAfter: 1 },
    });
    const registration = (await portal.send({ url: registrationUrl, cookies: held.registerApp })).json();
    const shown = { secondFactor: { ...base, account: 'adam' }, registration };
    expect((await page('registerApp')).screen).toEqual({ name: 'twoFactorRegistration', ...shown });
  });

  it('MF-11 what one visitor sees is not cached for another, signed in or not', async () => {
    const bare = { app: '/portal/twoFactor', registerApp: '/portal/twoFactorRegistration' };
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: held.registerApp })).json<{
      totpSecret: string;
    }>();
    const mine = await portal.send({ url: bare.registerApp, cookies: held.registerApp });
    expect(mine.body).toContain('adam');
    await portal.send({ url: bare.app, cookies: held.app });
    await portal.sql`delete from totp`;
    const next = { registerApp: await halfSession(portal, 'alice'), app: {} as Browser };
    await giveApp(portal, 'adam');
    next.app = await halfSession(portal, 'adam');
    const theirs = await portal.send({ url: bare.registerApp, cookies: next.registerApp });
    expect([theirs.statusCode, theirs.body.includes(totpSecret), theirs.body.includes('adam')]).toEqual([
      200,
      false,
      false,
    ]);
    expect((await portal.send({ url: bare.app, cookies: next.app })).body).not.toContain('alice');
    expect((await portal.send({ url: '/portal/login' })).body).not.toMatch(/adam|alice/);
    // Secrets are not compressed together with text that a stranger can put into the address.
    const headers = { 'accept-encoding': 'br, gzip' };
    const packed = await portal.send({ url: bare.registerApp, cookies: next.registerApp, headers });
    expect(packed.headers['content-encoding']).toBeUndefined();
    expect(packed.headers['cache-control']).toBe('no-store');
  });
});
