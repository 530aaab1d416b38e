import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  halfSession,
  pageOf,
  recoveryCodesUrl,
  registerApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  verifyByForm,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';
import { composeText } from '../mail/compose-mail.ts';

/** Pat, who needs no second factor, has just signed in. */
let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  cookies = cookiesOf(await portal.signIn('pat', testPassword));
});

const ask = async () => await askForKey(portal, cookies);
const secretOf = async () => (await ask()).json<{ totpSecret: string }>().totpSecret;

describe('an app that somebody sets up of his own will', () => {
  it('SE-02 goes on under another token, ends the other sessions, is reported by email and event, and is required at once', async () => {
    const elsewhere = cookiesOf(await portal.signIn('pat', testPassword));
    const { secret, cookies: after } = await registerApp(portal, cookies);
    expect(after['vestibule-session']).not.toBe(cookies['vestibule-session']);
    expect(await signedInAs(portal, after)).toBe('pat');
    expect(await signedInAs(portal, cookies)).toBeNull();
    expect(await signedInAs(portal, elsewhere)).toBeNull();
    await portal.workOff();
    expect(portal.mails.map(({ recipient, subject }) => [recipient, subject])).toEqual([
      ['pat@acme.test', composeText('en', 'mail-secondFactorAdded-subject', { hub: 'Vestibule' })],
    ]);
    const [event] = await portal.sql`
      select event, username, host(address) as address from audit_event order by id desc limit 1`;
    expect(event).toEqual({ event: 'two-factor-registered', username: 'pat', address: '198.51.100.7' });
    expect(await portal.sql`select from pending_totp`).toEqual([]);
    portal.wait(step);
    const again = await halfSession(portal, 'pat');
    expect(verdict(await verify(portal, codeNow(portal, secret), again))).toBe(true);
  });

  it('is set up where codes by email were required, and replaces them', async () => {
    const half = await halfSession(portal, 'bob');
    const answer = await verify(portal, await codeByMail(portal, 'bob'), half);
    const { secret } = await registerApp(portal, cookiesOf(answer));
    portal.wait(step);
    const again = await portal.signIn('bob', testPassword);
    expect(again.headers.location).toBe('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html');
    expect(verdict(await verify(portal, codeNow(portal, secret), cookiesOf(again)))).toBe(true);
  });

  it('leads to the recovery codes, with the destination kept, with and without JavaScript', async () => {
    const secret = await secretOf();
    const form = { code: codeNow(portal, secret), redirectURL: '/portal/x?y=1' };
    const answer = await verifyByForm(portal, form, cookies, '?lang=de');
    const location = `${recoveryCodesUrl}?redirectURL=%2Fportal%2Fx%3Fy%3D1&lang=de`;
    expect([answer.statusCode, answer.headers.location]).toEqual([303, location]);
    const page = await pageOf(portal, { url: location, cookies: cookiesOf(answer) });
    expect(page.screen).toMatchObject({ name: 'recoveryCodes', left: 10, destination: '/portal/x?y=1' });
    cookies = cookiesOf(await portal.signIn('pat', testPassword));
  });

  it('may be set up within ten minutes of the sign-in, and not a moment later', async () => {
    const secret = await secretOf();
    portal.wait(limits.freshSignIn);
    expect((await ask()).json().totpSecret).toBe(secret);
    portal.wait(1);
    const late = await ask();
    expect([late.statusCode, late.body.includes(secret)]).toEqual([409, false]);
    expect((await verify(portal, codeNow(portal, secret), cookies)).statusCode).toBe(409);
    expect(await portal.sql`select from totp`).toEqual([]);
    expect(await signedInAs(portal, cookies)).toBe('pat');
  });

  it('a moment later requires a new sign-in, which leads back, without JavaScript and with the name', async () => {
    const secret = await secretOf();
    portal.wait(limits.freshSignIn + 1);
    const url = '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx%3Fy%3D1&lang=de';
    const form = { code: codeNow(portal, secret), redirectURL: '/portal/x?y=1' };
    expect((await verifyByForm(portal, form, cookies, '?lang=de')).headers.location).toBe(url);
    const { status, screen } = await pageOf(portal, { url, cookies });
    expect([status, screen]).toEqual([200, { name: 'signInOnceMore', comesBackTo: url, goesOnTo: '/portal/x?y=1' }]);
    const shown = (await portal.send({ url, cookies })).body;
    const action = /<form action="([^"]+)" method="post"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const out = await portal.send({ method: 'POST', url: action, cookies });
    const held = cookiesOf(out);
    expect([await signedInAs(portal, cookies), await portal.sql`select from totp`]).toEqual([null, []]);
    const login = await pageOf(portal, { url: out.headers.location ?? '', cookies: held });
    expect(out.headers.location).toBe(`/portal/login?${new URLSearchParams({ destination: url, lang: 'de' })}`);
    expect(login.status).toBe(200);
    expect((await portal.send({ url: out.headers.location ?? '', cookies: held })).body).toContain('value="pat"');
    const again = await portal.signIn('pat', testPassword, {
      form: { username: 'pat', password: testPassword, redirectURL: url },
      cookies: held,
    });
    expect(again.headers.location).toBe(url);
    cookies = cookiesOf(again);
    expect((await pageOf(portal, { url, cookies })).registration?.totpSecret).toBe(await secretOf());
  });

  it('needs no new sign-in if there is one already: the page leads on', async () => {
    const { cookies: after } = await registerApp(portal, cookies);
    portal.wait(limits.freshSignIn + 1);
    const url = '/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx';
    expect(await pageOf(portal, { url, cookies: after })).toEqual({ status: 302, location: '/portal/x' });
  });

  it('is confirmed only by its own code, and its attempts count for the account (BF-11)', async () => {
    const secret = await secretOf();
    const { freeFailures, firstWait } = limits.throttle.code;
    for (const code of wrongCodes(portal, secret, freeFailures))
      expect(verdict(await verify(portal, code, cookies))).toBe(false);
    const waiting = await verify(portal, codeNow(portal, secret), cookies);
    expect([waiting.statusCode, waiting.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
    expect(await signedInAs(portal, cookies)).toBe('pat');
    portal.wait(firstWait);
    expect(verdict(await verify(portal, codeNow(portal, secret), cookies))).toBe(true);
    const refused = await portal.sql`select username, steps from audit_event where event = 'code-refused'`;
    expect(refused).toHaveLength(freeFailures);
    expect(refused[0]).toEqual({ username: 'pat', steps: [{ step: 'code', outcome: 'of an app being set up' }] });
  });

  it('is confirmed by one of many concurrent posts, whose session works', async () => {
    const code = codeNow(portal, await secretOf());
    const answers = await Promise.all(Array.from({ length: 8 }, () => verify(portal, code, cookies)));
    const winners = answers.filter(({ body }) => body === 'true');
    expect(winners).toHaveLength(1);
    expect(await portal.sql`select from recovery_code`).toHaveLength(10);
    expect(await portal.sql`select payload->>'kind' as kind from job`).toEqual([{ kind: 'secondFactorAdded' }]);
    expect(await signedInAs(portal, cookiesOf(winners[0] as (typeof answers)[number]))).toBe('pat');
  });

  it('is not set up twice: a code changes nothing if there is an app', async () => {
    const { secret, cookies: after } = await registerApp(portal, cookies);
    const before = await portal.sql`select * from totp`;
    portal.wait(step);
    expect(verdict(await verify(portal, codeNow(portal, secret), after))).toEqual([401, 'signInExpired']);
    expect(await portal.sql`select * from totp`).toEqual(before);
    expect(await signedInAs(portal, after)).toBe('pat');
  });

  it('is not set up on the screen of a code: it leads a signed-in user on', async () => {
    const url = '/portal/twoFactor?redirectURL=%2Fportal%2Fx';
    expect(await pageOf(portal, { url, cookies })).toEqual({ status: 302, location: '/portal/x' });
    const shown = await pageOf(portal, { url: '/portal/twoFactorRegistration', cookies });
    expect([shown.status, shown.registration?.totpSecret]).toEqual([200, await secretOf()]);
    // Even now that one is being set up, only a refused code leads there.
    expect(await pageOf(portal, { url, cookies })).toEqual({ status: 302, location: '/portal/x' });
  });

  it('has a page that names its user, and leads on when given up', async () => {
    const page = async (query: string) =>
      await pageOf(portal, { url: `/portal/twoFactorRegistration${query}`, cookies });
    const base = { account: 'pat', mayRemember: false, mayRecover: false, sendAgainAfter: 0 };
    for (const [query, goesOnTo] of [
      ['', '/portal/portal.html'],
      ['?redirectURL=%2Fportal%2Fx%3Fy%3D1%23z', '/portal/x?y=1#z'],
      ['?redirectURL=https%3A%2F%2Fevil.example', '/portal/portal.html'],
      ['?redirectURL=javascript%3Aalert(1)', '/portal/portal.html'],
      ['?redirectURL=%2Fportal%2Flogout', '/portal/portal.html'],
    ] as const)
      expect(await page(query)).toMatchObject({ status: 200, secondFactor: { ...base, goesOnTo } });
    const half = await pageOf(portal, {
      url: '/portal/twoFactorRegistration',
      cookies: await halfSession(portal, 'alice'),
    });
    expect(half.secondFactor).not.toHaveProperty('goesOnTo');
    // Back to where a code by email was confirmed while signing in: no app is being added.
    expect(await page('?codeSentViaEmail=true&redirectURL=%2Fportal%2Fx')).toEqual({
      status: 302,
      location: '/portal/x',
    });
  });

  it('without JavaScript stays on its page when a code is refused, and says so', async () => {
    const secret = await secretOf();
    for (const [code, notice] of [
      ['12345', 'codeMalformed'],
      [wrongCodes(portal, secret, 1)[0] ?? '', 'codeWrong'],
    ] as const) {
      const answer = await verifyByForm(portal, { code, redirectURL: '/portal/x' }, cookies, '?lang=de');
      const location = `/portal/twoFactorRegistration?redirectURL=%2Fportal%2Fx&notice=${notice}&lang=de`;
      expect(answer.headers.location).toBe(location);
      expect((await pageOf(portal, { url: location, cookies })).registration?.totpSecret).toBe(secret);
    }
  });
});
