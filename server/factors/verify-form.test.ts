import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  recoveryCodesUrl,
  registrationUrl,
  startTwoFactorAfresh,
  triesCounted,
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
  it('that is right leads to the destination, with the tokens of a full session', async () => {
    const answer = await verifyByForm(portal, { code: codeNow(portal, secret), ...place }, cookies);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/x?y=1']);
    expect(Object.keys(cookiesOf(answer)).sort()).toEqual([
      'vestibule-device',
      'vestibule-refusal',
      'vestibule-session',
    ]);
    expect(cookiesOf(answer)['vestibule-refusal']).toBe('');
    expect(await signedInAs(portal, cookiesOf(answer))).toBe('alice');
  });

  it('is read as copied from an app', async () => {
    const code = codeNow(portal, secret);
    expect(await leadsTo({ code: ` ${code.slice(0, 3)} ${code.slice(3)}\n`, ...place })).toBe('/portal/x?y=1');
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['another host', 'https://evil.example/'],
    ['another host without scheme', '//evil.example/'],
    ['a script', 'javascript:alert(1)'],
    ['sign-out', '/portal/logout'],
    ['ten thousand letters', `/portal/${'x'.repeat(10_000)}`],
  ])('OR-01 OR-22 that is right leads to the default destination if %s is given', async (_what, redirectURL) => {
    const form = { code: codeNow(portal, secret), ...(redirectURL !== undefined && { redirectURL }) };
    expect(await leadsTo(form)).toBe('/portal/portal.html');
  });

  it('OR-23 that is right adds no header by its destination', async () => {
    const form = { code: codeNow(portal, secret), redirectURL: '/portal/x\r\nSet-Cookie: a=b' };
    const { headers } = await verifyByForm(portal, form, cookies);
    expect(headers.location).toBe('/portal/portal.html');
    expect(JSON.stringify(headers)).not.toContain('a=b');
  });

  it('that is wrong leads back with a notice, everything kept', async () => {
    const [code = ''] = wrongCodes(portal, secret, 1);
    expect(await leadsTo({ code, ...place }, cookies, '?lang=de')).toBe(
      `/portal/twoFactor?${kept}&notice=codeWrong&lang=de`,
    );
    expect(await leadsTo({ code })).toBe('/portal/twoFactor?notice=codeWrong');
  });

  it('that is not right leaves “don’t ask on this device” unchanged', async () => {
    const ticked = async (form: Record<string, string>) => {
      const { body } = await portal.send({ url: (await leadsTo(form)) ?? '', cookies });
      return /<input[^>]*name="remember"[^>]*checked/.test(body);
    };
    const [wrong = ''] = wrongCodes(portal, secret, 1);
    for (const code of ['', wrong]) expect(await ticked({ code, remember: 'on' })).toBe(true);
    for (const code of ['', wrong]) expect(await ticked({ code })).toBe(false);
    // An address that we never redirect to ticks nothing.
    expect((await portal.send({ url: '/portal/twoFactor?remember=true', cookies })).body).not.toMatch(
      /<input[^>]*checked/,
    );
  });

  it('MF-05 that is malformed leads back as well, and costs no attempt', async () => {
    for (const code of ['', '12345', '1234567', 'abc', '１２３４５６', '12 34 56'])
      expect(await leadsTo({ code, ...place })).toBe(`/portal/twoFactor?${kept}&notice=codeMalformed`);
    for (const code of ['7K2M-Q4XD', '7K2M-Q4XD-9FHB-7K2M'])
      expect(await leadsTo({ code, recovery: 'true' })).toBe('/portal/twoFactor?recovery=true&notice=codeMalformed');
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(await portal.sql`select code_tries from session`).toEqual([{ code_tries: 0 }]);
  });

  it('that comes too often leads to the password with a notice, and the destination', async () => {
    const form = { code: codeNow(portal, secret), ...place };
    const [last = '', ...others] = wrongCodes(portal, secret, limits.codeTries);
    for (const code of others) expect(await leadsTo({ code, ...place })).toMatch(/^\/portal\/twoFactor\?/);
    const to = '/portal/login?notice=tooManyCodes&destination=%2Fportal%2Fx%3Fy%3D1';
    const answer = await verifyByForm(portal, { code: last, ...place }, cookies);
    expect(answer.headers.location).toBe(to);
    const { body } = await portal.send({ url: to, cookies: cookiesOf(answer) });
    expect(body).toMatch(/<input[^>]*name="username"[^>]*value="alice"/);
    expect(await leadsTo(form)).toBe(to);
    expect(await leadsTo(form, cookies, '?lang=pl')).toBe(`${to}&lang=pl`);
  });

  it('BF-11 that comes too often over half sessions leads back with a notice, and the half session stays', async () => {
    for (let count = 0; count < 2; count += 1) {
      const held = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries)) await leadsTo({ code }, held);
    }
    const form = { code: codeNow(portal, secret), ...place };
    expect(await leadsTo(form)).toBe(`/portal/twoFactor?${kept}&notice=tooManyAttempts`);
    portal.wait(limits.throttle.code.firstWait);
    expect(await leadsTo({ ...form, code: codeNow(portal, secret) })).toBe('/portal/x?y=1');
  });

  it('by email leads to the destination, or back with its flag kept', async () => {
    const bob = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const form = { ...place, codeSentViaEmail: 'true' };
    expect(await leadsTo({ ...form, code: 'x' }, bob)).toBe(
      `/portal/twoFactorRegistration?${kept}&codeSentViaEmail=true&notice=codeMalformed`,
    );
    expect(await leadsTo({ ...form, code }, bob)).toBe('/portal/x?y=1');
  });

  it('that confirms an app leads to the recovery codes', async () => {
    const adam = await halfSession(portal, 'adam');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: adam })).json<{ totpSecret: string }>();
    const form = { code: codeNow(portal, totpSecret), redirectURL: '//evil.example' };
    expect(await leadsTo(form, adam)).toBe(`${recoveryCodesUrl}?redirectURL=%2Fportal%2Fportal.html`);
  });

  it('has this device remembered only by its checkbox', async () => {
    for (const [remember, expected] of [
      ['on', true],
      ['true', false],
      ['', false],
    ] as const) {
      portal.wait(60_000);
      const form = { code: codeNow(portal, secret), remember };
      const answer = await verifyByForm(portal, form, await halfSession(portal, 'alice'), '?remember=true');
      expect([remember, 'vestibule-remembered' in cookiesOf(answer)]).toEqual([remember, expected]);
    }
  });
});
