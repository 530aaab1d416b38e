import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it } from 'vitest';
import { configFrom, cookiesOf, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  failedPage,
  linkFor,
  newPassword,
  startAfresh,
  tokenIn,
} from '#test/support/reset-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';

const { destinationRules } = configFrom({});
const allowedOrigins = ['https://reports.acme.test'];
const portal = portalOfFile({
  config: { destinationRules: { ...destinationRules, allowedOrigins } },
  each: startAfresh,
});

const page = '/hub/start?a=b%26c&x=~*\'"<!>.';
/** As the URL parser writes it. */
const accepted = '/hub/start?a=b%26c&x=~*%27%22%3C!%3E.';
const asking = (url: string, destination = page) => `${url}?${new URLSearchParams({ destination })}`;
const kept = (url: string, destination = accepted) =>
  `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ destination })}`;
const linkIn = ({ text }: { text: string } = { text: '' }) => /https?:\S+/.exec(text)?.[0] ?? '';
const decoded = (html = '') =>
  html
    .replace(/&(?:amp|#38);/g, '&')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"');
const actionOf = ({ body }: Response) => decoded(/<form[^>]* action="(\/portal\/password\/[^"]*)"/.exec(body)?.[1]);

describe('the page that was asked for first', () => {
  it('is reached without JavaScript by the link, in a browser that has nothing else', async () => {
    const form = await portal.send({ url: asking('/portal/forgotten') });
    const asked = await askForReset(portal, 'alice@acme.test', { url: actionOf(form) });
    expect([asked.statusCode, asked.headers.location]).toEqual([303, kept('/portal/emailInfo')]);
    await portal.workOff();
    const [mail] = portal.mails;
    const link = linkIn(mail);
    expect(link).toMatch(/^http:\/\/[^/]+\/portal\/forgottenChange\?hash=[\w-]{43}&destination=[\w%.+-]+&lang=en$/);
    expect(decoded(mail?.html)).toContain(`"${link}"`);
    const { pathname, search } = new URL(link);
    const url = actionOf(await portal.send({ url: pathname + search }));
    const changed = await changeTo(portal, tokenIn(mail), newPassword, { url });
    expect(changed.headers.location).toBe(`${kept(changedPage)}&lang=en`);
    const done = await portal.send({ url: String(changed.headers.location) });
    const [, toForm = ''] = /<a href="(\/portal\/login[^"]*)" class="button"/.exec(done.body) ?? [];
    const signIn = await portal.send({ url: decoded(toForm) });
    const redirectURL = decoded(/name="redirectURL" value="([^"]*)"/.exec(signIn.body)?.[1]);
    const credentials = { username: 'alice', password: newPassword, redirectURL };
    const arrived = await portal.signIn('alice', newPassword, { form: credentials });
    expect(arrived.headers.location).toBe(accepted);
  });

  it('is kept by a refused change and the way back to the form', async () => {
    const token = await linkFor(portal, 'alice');
    const tooWeak = await changeTo(portal, token, 'lanternq', { url: asking('/portal/password/change') });
    expect(tooWeak.headers.location).toBe(kept(failedPage(1)));
    const old = await changeTo(portal, token, testPassword, { url: asking('/portal/password/change') });
    expect(old.headers.location).toBe(kept(failedPage(11)));
    const failed = await portal.send({ url: String(old.headers.location) });
    const [, back = ''] = /<a href="(\/portal\/forgottenChange[^"]*)"/.exec(failed.body) ?? [];
    const form = await portal.send({ url: decoded(back), cookies: cookiesOf(old) });
    expect(actionOf(form)).toBe(kept('/portal/password/change'));
  });
});

const start = '/portal/portal.html';
let cookies: Record<string, string>;
beforeEach(async () => {
  const { 'vestibule-session': session = '' } = cookiesOf(await portal.signIn('alice', testPassword));
  cookies = { 'vestibule-session': session };
});

/** Where sign-in leads; a signed-in visitor to the form is redirected by the same rules. */
async function leadsTo(destination: string): Promise<string> {
  const form = { username: 'alice', password: testPassword, redirectURL: destination };
  const signedIn = await portal.signIn('alice', testPassword, { form });
  expect(signedIn.statusCode).toBe(303);
  const { headers } = await portal.send({ url: `/portal/login?${new URLSearchParams({ destination })}`, cookies });
  expect(headers.location).toBe(signedIn.headers.location);
  expect(Object.keys(signedIn.headers).filter((name) => name.startsWith('x-evil'))).toEqual([]);
  return String(headers.location);
}

// Which addresses are acceptable: contract/destination.test.ts.
it('OR-01 OR-04 OR-10 OR-23 a destination elsewhere leads to the default', () =>
  eachRow(
    [
      ...['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:alert(1)'],
      ...['https://reports.acme.test@evil.example/', 'https://reports.acme.test.evil.example', '/portalevil'],
      ...['/portal/logout', '/portal/%6cogout#x', `/portal/${'x'.repeat(10_000)}`],
      ...['/portal/x\r\nSet-Cookie: a=b', '/portal/x\r\n\r\nX-Evil: 1'],
    ],
    async (value) => expect(await leadsTo(value)).toBe(start),
  ));

it('OR-06 OR-27 a destination stays on our origin or a listed one', () =>
  eachRow(
    [
      ['%2f%2fevil.example', '/portal/%2f%2fevil.example'],
      ['/portal/\u2028\ufeff', '/portal/%E2%80%A8%EF%BB%BF'],
      ['/portal/portal.html#/a?b=c', '/portal/portal.html#/a?b=c'],
      ['HTTPS://Reports.ACME.test/7?x=1#y', 'https://reports.acme.test/7?x=1#y'],
      ['http://localhost:8080/hub/start?x=1#y', '/hub/start?x=1#y'],
      ['../hub/start', '/hub/start'],
    ] as const,
    async ([value, location]) => expect(await leadsTo(value)).toBe(location),
  ));

it('OR-21 a destination sent twice or as a list is ignored', async () => {
  const body = `username=alice&password=${testPassword}`;
  const post = (more: string) => portal.send({ method: 'POST', url: '/portal/performlogin', body: body + more });
  expect((await post('&redirectURL=%2Fa&redirectURL=%2F%2Fevil.example')).statusCode).toBe(400);
  expect((await post('&redirectURL%5B%5D=https%3A%2F%2Fevil.example')).headers.location).toBe(start);
  const twice = '/portal/login?destination=//evil.example&destination=/portal/x';
  expect((await portal.send({ url: twice, cookies })).headers.location).toBe(start);
});

it('OR-17 a lone surrogate or broken escape is an invalid form', async () => {
  for (const bad of ['%ED%A0%80', '%', '%00']) {
    const body = `username=alice&password=${testPassword}&redirectURL=%2Fportal%2F${bad}`;
    expect((await portal.send({ method: 'POST', url: '/portal/performlogin', body })).statusCode, bad).toBe(400);
  }
});

it('PR-08 an absolute request target does not lead elsewhere', async () => {
  const answer = await portal.send({ url: 'http://evil.example/portal/portal.html' });
  expect(String(answer.headers.location ?? '')).not.toMatch(/^(?:https?:)?\/\//);
});

const evil = 'https://evil.example/';
const code = { code: '123456', redirectURL: evil };

it.each<[string, TestRequest]>([
  [
    'a sign-in',
    { url: '/portal/performlogin', form: { username: 'alice', password: testPassword, redirectURL: evil } },
  ],
  ['a page', { url: '/portal/login?destination=//evil.example' }],
  ['a page of a code', { url: `/portal/twoFactor?redirectURL=${encodeURIComponent(evil)}` }],
  ['a request for a link', { url: asking('/portal/password/forgotten', evil), form: { username: 'ada' } }],
  ['single sign-on', { url: '/portal/checkSsoLogin', form: { username: 'a@acme.test', redirectURLSSO: evil } }],
  ['a code', { url: '/portal/two-factor-authentication/verify', form: code }],
])('a refused destination of %s is recorded, once a minute for each address, without itself', async (_of, request) => {
  portal.wait(60_000);
  await portal.sql`delete from audit_event`;
  // One that comes while another is being recorded is not: it is sent again.
  const recorded = async (from: string) => {
    await portal.send({ ...(request.form && { method: 'POST' }), ...request, from });
    return await portal.sql`select from audit_event where event = 'destination-refused'`;
  };
  await expect.poll(() => recorded('192.0.2.76')).toHaveLength(1);
  await expect.poll(() => recorded('192.0.2.77')).toHaveLength(2);
  expect(await recorded('192.0.2.76')).toHaveLength(2);
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

it('an acceptable one is not', async () => {
  await portal.sql`delete from audit_event`;
  for (const page of ['login?destination=/hub/a', 'twoFactor?redirectURL=%2Fportal%2Fx', 'login?redirectURL='])
    await portal.send({ url: `/portal/${page}` });
  expect(await portal.sql`select from audit_event where event = 'destination-refused'`).toHaveLength(0);
});
