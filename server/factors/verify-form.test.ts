import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  otherThan,
  pageOf,
  recoveryCodesUrl,
  startTwoFactorAfresh,
  triesCounted,
  verdict,
  verify,
  verifyByForm,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

let secret: string;
let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  secret = await giveApp(portal, 'alice');
  cookies = await halfSession(portal, 'alice');
});

/** Where a code leads when posted without JavaScript. */
async function leadsTo(form: Record<string, string>, held = cookies, query = ''): Promise<string | undefined> {
  const { statusCode, headers } = await verifyByForm(portal, form, held, query);
  expect(statusCode).toBe(303);
  return headers.location;
}
const place = { redirectURL: '/portal/x?y=1' };
const kept = 'redirectURL=%2Fportal%2Fx%3Fy%3D1';

describe('a code without script', () => {
  const inDigitsFrom = (zero: number) => (code: string) =>
    [...code].map((digit) => String.fromCodePoint(zero + Number(digit))).join('');

  it.each([
    ['as copied from an app', (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)}\n`],
    ['in Arabic digits', inDigitsFrom(0x660)],
    ['in full-width digits', inDigitsFrom(0xff10)],
    ['in a sentence, between marks of direction', (code: string) => `Your code is \u2068${code}\u2069`],
  ])('that is right, %s, leads to the destination, signed in', async (_how, write) => {
    const form = { code: write(codeNow(portal, secret)), ...place };
    const answer = await verifyByForm(portal, form, cookies);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/x?y=1']);
    const after = cookiesOf(answer);
    expect(Object.keys(after).sort()).toEqual(['vestibule-device', 'vestibule-next-page', 'vestibule-session']);
    expect(after['vestibule-next-page']).toBe('');
    expect(await signedInAs(portal, after)).toBe('alice');
  });

  it.each([
    ['none', undefined],
    ['another host', 'https://evil.example/'],
    ['another host without scheme', '//evil.example/'],
    ['a script', 'javascript:alert(1)'],
    ['sign-out', '/portal/logout'],
    ['a header', '/portal/x\r\nSet-Cookie: a=b'],
    ['ten thousand letters', `/portal/${'x'.repeat(10_000)}`],
  ])('OR-01 OR-22 OR-23 that is right leads to the default destination if %s is given', async (_what, redirectURL) => {
    const form = { code: codeNow(portal, secret), ...(redirectURL !== undefined && { redirectURL }) };
    const { headers } = await verifyByForm(portal, form, cookies);
    expect(headers.location).toBe('/portal/portal.html');
    expect(JSON.stringify(headers)).not.toContain('a=b');
  });

  it('that is wrong leads back with a notice, destination, language and checkbox kept', async () => {
    const [code = ''] = wrongCodes(portal, secret, 1);
    expect(await leadsTo({ code, ...place }, cookies, '?lang=de')).toBe(
      `/portal/twoFactor?${kept}&notice=codeWrong&lang=de`,
    );
    const isTicked = async (url = '') =>
      /<input[^>]*name="remember"[^>]*checked/.test((await portal.send({ url, cookies })).body);
    expect(await isTicked(await leadsTo({ code, remember: 'on' }))).toBe(true);
    expect(await isTicked(await leadsTo({ code }))).toBe(false);
    // An address that we never redirect to ticks nothing.
    expect(await isTicked('/portal/twoFactor?remember=true')).toBe(false);
  });

  it('MF-05 that is malformed leads back as well, and costs no attempt', async () => {
    for (const code of ['', '12345', '1234567', 'abc', '١٢٣٤٥', '123456, 654321'])
      expect(await leadsTo({ code, ...place })).toBe(`/portal/twoFactor?${kept}&notice=codeMalformed`);
    for (const code of ['7K2M-Q4XD', '7K2M-Q4XD-9FHB-7K2M'])
      expect(await leadsTo({ code, recovery: 'true' })).toBe('/portal/twoFactor?recovery=true&notice=codeMalformed');
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
  });
});

describe('a form with a right code that is pressed twice', () => {
  async function press(code: string, held: Browser) {
    const answer = await verifyByForm(portal, { code, ...place }, held);
    return { to: answer.headers.location, token: cookiesOf(answer)['vestibule-session'] };
  }
  const codes: Record<string, () => Promise<{ code: string; held: Browser; to: string }>> = {
    'of an app': async () => ({ code: codeNow(portal, secret), held: cookies, to: place.redirectURL }),
    'by email': async () => {
      const held = await halfSession(portal, 'bob');
      return { code: await codeByMail(portal, 'bob'), held, to: place.redirectURL };
    },
    'for recovery': async () => {
      const [code = ''] = await giveRecoveryCodes(portal, 'alice');
      return { code, held: cookies, to: recoveryCodesUrl };
    },
    'that confirms an app': async () => {
      const held = await halfSession(portal, 'adam');
      const { totpSecret } = (await askForKey(portal, held)).json<{ totpSecret: string }>();
      return { code: codeNow(portal, totpSecret), held, to: recoveryCodesUrl };
    },
  };

  it.each(Object.entries(codes))('leads where it led first: %s', async (_kind, made) => {
    const { code, held, to } = await made();
    const first = await press(code, held);
    expect(first.to).toContain(to);
    portal.wait(limits.repeatedSubmit - 1);
    expect(await press(code, held)).toEqual(first);
    expect(await portal.sql`select from session where stage = 'full'`).toHaveLength(1);
    expect(await signedInAs(portal, { 'vestibule-session': first.token ?? '' })).not.toBeNull();
  });

  it('finds nothing ten seconds later, with another code, by script, or once the session has ended', async () => {
    const code = codeNow(portal, secret);
    const { token = '' } = await press(code, cookies);
    const ended = { to: expect.stringContaining('notice=signInExpired'), token: undefined };
    expect(await press(otherThan(code), cookies)).toEqual(ended);
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
    portal.wait(limits.repeatedSubmit);
    expect(await press(code, cookies)).toEqual(ended);
    expect(await signedInAs(portal, { 'vestibule-session': token })).toBe('alice');
    const held = await halfSession(portal, 'bob');
    const other = await codeByMail(portal, 'bob');
    const opened = await press(other, held);
    const left = { 'vestibule-session': opened.token ?? '' };
    await portal.send({ method: 'POST', url: '/portal/logout', cookies: left });
    expect(await press(other, held)).toEqual(ended);
  });
});

/** A right code is refused without effect: no session, no count. */
async function expectGone(held: Browser): Promise<void> {
  const code = codeNow(portal, secret);
  const answer = await verify(portal, code, held);
  expect([answer.statusCode, answer.cookies]).toEqual([401, []]);
  expect(answer.json()).toEqual({ type: 'about:blank', title: 'Unauthorized', status: 401, notice: 'signInExpired' });
  const redirectURL = '/portal/x?y=1';
  const form = await verifyByForm(portal, { code, redirectURL, remember: 'on' }, held, '?lang=de');
  expect([form.headers.location, form.cookies]).toEqual([
    '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx%3Fy%3D1&lang=de',
    [],
  ]);
  expect(await signedInAs(portal, held)).toBeNull();
  expect(await portal.sql`select from throttle where key like 'code:%'`).toEqual([]);
  expect(await portal.sql`select from audit_event where event = 'code-refused'`).toEqual([]);
}

it.each<[string, (token: string) => Browser]>([
  ['no cookie', () => ({})],
  ['an unknown token', () => ({ 'vestibule-session': 'x'.repeat(43) })],
  ['a token cut short', (token) => ({ 'vestibule-session': token.slice(0, 42) })],
  ['its token as that of a device', (token) => ({ 'vestibule-device': token, 'vestibule-remembered': token })],
])('MF-09 with %s a right code is answered 401, and opens nothing', async (_what, held) => {
  await expectGone(held(cookies['vestibule-session'] as string));
});

it.each<[string, () => PromiseLike<unknown>]>([
  ['its ten minutes are over (SE-05)', async () => portal.wait(limits.halfSession)],
  ['it was signed out', () => portal.send({ method: 'POST', url: '/portal/logout', cookies })],
  ['its browser signed in again', () => portal.signIn('alice', testPassword, { cookies })],
  ['its user was made inactive', () => portal.sql`update portal_user set active = false`],
  ['its user was removed', () => portal.sql`delete from portal_user`],
  ['its customer was switched off', () => portal.sql`update customer set active = false`],
  ['its customer is not the user’s any more', () => portal.sql`delete from membership`],
  ['its network is admitted no more', () => portal.sql`update customer set allowed_networks = '{192.0.2.0/24}'`],
])('MF-09 once %s a right code is answered 401, and opens nothing', async (_what, happens) => {
  await happens();
  await expectGone(cookies);
});

it('IP-14 IP-15 SE-05 works to its last millisecond where the customer admits the address, and nowhere else', async () => {
  await portal.sql`update customer set allowed_networks = '{198.51.100.0/24,203.0.113.0/24}'`;
  portal.wait(limits.halfSession - 1);
  const code = codeNow(portal, secret);
  expect((await verify(portal, code, cookies, { from: '192.0.2.1' })).statusCode).toBe(401);
  expect((await verify(portal, code, cookies, { from: '203.0.113.9' })).body).toBe('true');
});

it('MF-20 cancel ends the half session: its code no longer works, and the destination is kept', async () => {
  const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
  const url = '/portal/logout?destination=%2Fportal%2Fx&lang=de';
  const cancelled = await portal.send({ url, cookies, headers });
  expect([cancelled.statusCode, cancelled.headers.location]).toEqual([
    303,
    '/portal/login?destination=%2Fportal%2Fx&lang=de',
  ]);
  expect(cookiesOf(cancelled)['vestibule-session']).toBe('');
  await expectGone(cookies);
});

describe('the screens of the second factor', () => {
  /** Half sessions that wait for an app's code, its registration, a code by email, its registration. */
  let held: Record<'app' | 'registerApp' | 'mail' | 'registerMail', Browser>;
  beforeEach(async () => {
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
});
