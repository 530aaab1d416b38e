import { beforeAll, beforeEach, expect, it } from 'vitest';
import { signOutUser } from '#server/accounts/sign-out-user.ts';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testAddress, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { linkFor, newPassword } from '#testing/reset-for-test.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  followLeavePage,
  pathOf,
} from '#testing/sso-for-test.ts';
import { codeByMail } from '#testing/two-factor-for-test.ts';

// A form that was left open, or waits in the history of its tab, is posted after a sign-out that the browser has read.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'mails', { twoFactor: 'email' });
  for (const username of ['alice', 'bob', 'eve', 'finn']) await addUser(portal, { username });
  for (const username of ['coda', 'dora']) await addUser(portal, { username, customers: ['mails'] });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'sso_request', 'reset_request', 'throttle', 'audit_event');
  browser = browserForTest(portal);
  provider.bend({ claims: (honest) => ({ ...honest, sub: 'b', email: 'bob@acme.test', email_verified: true }) });
});

const secret = '/portal/portal.html?plan=of-alice';
const asked = `destination=${encodeURIComponent(secret)}`;
const decoded = (html: string) => html.replaceAll(/&(?:amp|#38);/g, '&').replaceAll('&quot;', '"');

/** The form of a page that posts to a call, as the browser has it now: its address and its hidden fields. */
async function formAt(url: string, call: string) {
  const { body } = await browser.get(url);
  const [form = ''] = new RegExp(`<form[^>]* action="[^"]*/${call}(?:\\?[^"]*)?".*?</form>`, 's').exec(body) ?? [];
  const action = decoded(/ action="([^"]*)"/.exec(form)?.[1] ?? '');
  const inputs = form.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
  const value = (input: string, name: string) => decoded(new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1] ?? '');
  return { action, fields: Object.fromEntries(inputs.map((input) => [value(input, 'name'), value(input, 'value')])) };
}
type Form = Awaited<ReturnType<typeof formAt>>;
const send = async ({ action, fields }: Form, entries: Record<string, string> = {}) =>
  await browser.post(action, { ...fields, ...entries }, { headers: { accept: 'text/html' } });
const signIn = async (username: string, more = {}) =>
  await browser.post('/portal/performlogin', { username, password: testPassword, ...more });
const signOut = async () => await browser.post('/portal/logout', {});
const everybodyWaits = async () => {
  const now = portal.deps.now();
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    values (${`reset-address:${testAddress}`}, 99999, ${now}, ${new Date(now.getTime() + 60_000)}, true)`;
};
const aliceComesAndGoes = async () => {
  await signIn('alice');
  await signOut();
};
const endOfVisit = async (pressed: Awaited<ReturnType<typeof send>>) =>
  (await browser.get(pathOf(provider.visit(await followLeavePage(browser, pressed))))).headers.location;

it.each([
  ['alice’s', aliceComesAndGoes, '/portal/portal.html'],
  ['its own', async () => {}, secret],
])(
  'SE-15 the form of single sign-on leads where it was to lead only in its own turn (%s)',
  async (_, meanwhile, to) => {
    const form = await formAt(`/portal/singleSignOn?${asked}`, 'performSsoLogin');
    expect(form.fields).toMatchObject({ redirectURL: secret });
    await meanwhile();
    const end = await endOfVisit(await send(form, { username: 'bob@acme.test' }));
    if (meanwhile !== aliceComesAndGoes) return expect(end).toBe(to);
    // What was typed is not known to be the next person's, whom this browser has not seen yet.
    expect(end).toContain('/portal/authenticate/other-account?request=');
    const request = String(end).slice(-36);
    const agreed = await browser.post('/portal/authenticate/other-account', { request });
    expect(agreed.headers.location).toBe(to);
  },
);

it.each([
  ['is signed in here', 600_000],
  ['was signed in here', 13 * 3_600_000],
])('SE-15 nor is who typed in it known: it asks whoever %s, whom the provider names', async (_, since) => {
  const form = await formAt('/portal/singleSignOn', 'performSsoLogin');
  await aliceComesAndGoes();
  const iat = Math.floor(portal.deps.now().getTime() / 1000);
  provider.bend({
    claims: (honest) => ({ ...honest, sub: 'b', email: 'bob@acme.test', email_verified: true, auth_time: iat }),
  });
  const turn = (await formAt('/portal/singleSignOn', 'performSsoLogin')).fields;
  await endOfVisit(await send({ ...form, fields: turn }, { username: 'bob@acme.test' }));
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  portal.wait(since);
  // Eve types her own address.
  const pressed = await send(form, { username: 'eve@acme.test' });
  const address = await followLeavePage(browser, pressed);
  expect(new URL(address).searchParams.has('login_hint')).toBe(false);
  const end = (await browser.get(pathOf(provider.visit(address)))).headers.location;
  expect(end).toContain('/portal/authenticate/other-account?request=');
});

it.each([
  ['alice’s', aliceComesAndGoes, '/portal/portal.html'],
  ['its own', async () => {}, secret],
])('SE-15 so does the button of single sign-on (%s)', async (_, meanwhile, to) => {
  await endOfVisit(await browser.post('/portal/authenticate/performSsoLogin', { username: 'bob@acme.test' }));
  await signOut();
  const form = await formAt(`/portal/login?${asked}`, 'checkSsoLogin');
  expect(form.fields).toMatchObject({ redirectURLSSO: secret });
  await meanwhile();
  provider.bend({
    claims: (honest) => ({ ...honest, sub: 'b', email: 'bob@acme.test', auth_time: honest.iat }),
  });
  expect(await endOfVisit(await send(form))).toBe(to);
});

it.each([
  ['alice’s', aliceComesAndGoes, [{ destination: null }], '/portal/forgotten?notice=emailMalformed'],
  ['its own', async () => {}, [{ destination: secret }], `/portal/forgotten?notice=emailMalformed&${asked}`],
])('SE-15 so does the form that asks for a link (%s)', async (_, meanwhile, stored, again) => {
  const form = await formAt(`/portal/forgotten?${asked}`, 'password/forgotten');
  expect(form.action).toContain(asked);
  await meanwhile();
  const { body } = await send(form, { username: 'bob' });
  expect(decoded(body).includes(secret) || body.includes(asked)).toBe(again.includes(asked));
  await send(form, { username: 'bob@acme.test' });
  expect(await portal.sql`select destination from reset_request`).toEqual(stored);
});

it.each([
  ['alice’s', aliceComesAndGoes, 'bob', ''],
  ['its own', async () => {}, 'eve', `?${asked}`],
])('SE-15 so does the form for a new password (%s)', async (_, meanwhile, username, query) => {
  const form = await formAt(`/portal/forgottenChange?${asked}`, 'password/change');
  expect(form.action).toContain(asked);
  await meanwhile();
  const entries = { hash: await linkFor(portal, username), password: newPassword, repeat: newPassword };
  expect((await send(form, entries)).headers.location).toBe(`/portal/forgottenChangedInfo${query}`);
});

/** Signs in until the code, which is to lead to the earlier person's destination; returns both forms of its page. */
async function formsOfCode(username: string) {
  const { headers } = await signIn(username, { redirectURL: secret });
  const at = String(headers.location);
  const forms = [await formAt(at, 'verify'), await formAt(at, 'send')] as const;
  for (const { fields } of forms) expect(fields).toMatchObject({ redirectURL: secret });
  return forms;
}

it('SE-15 the forms of a second factor lead nowhere once it is over that had replaced a session', async () => {
  await signIn('alice');
  const forms = await formsOfCode('coda');
  await signOut();
  for (const form of forms) {
    const { headers } = await send(form, { code: '123456' });
    expect(headers.location, form.action).toBe('/portal/login?notice=signInExpired');
  }
});

it('SE-15 nor do they in the sign-in of somebody else', async () => {
  await signIn('alice');
  const [check, another] = await formsOfCode('coda');
  await signOut();
  await signIn('dora');
  const expired = '/portal/login?notice=signInExpired';
  expect((await send(another)).headers.location).toBe(expired);
  expect((await send(check, { code: 'abc' })).headers.location).toBe(expired);
  expect((await send(check, { code: await codeByMail(portal, 'dora') })).headers.location).toBe(expired);
});

it.each([
  ['alice’s', aliceComesAndGoes, ''],
  ['its own', async () => {}, encodeURIComponent(asked)],
])('SE-15 the link away from a code keeps the destination only in its own turn (%s)', async (_, meanwhile, kept) => {
  const { headers } = await signIn('coda', { redirectURL: secret });
  const { body } = await browser.get(String(headers.location));
  const link = decoded(/<a href="([^"]*\/logout[^"]*)"/.exec(body)?.[1] ?? '');
  expect(link).toContain(asked);
  await meanwhile();
  const pressed = await browser.get(link, { headers: { accept: 'text/html', 'sec-fetch-site': 'same-origin' } });
  expect(pressed.headers.location).toBe(kept === '' ? '/portal/login' : `/portal/login?${asked}`);
});

it.each([
  ['alice’s', aliceComesAndGoes, false],
  ['one that an operator has ended', async () => await signOutUser(portal.sql, 'finn', portal.deps.now()), false],
  ['its own', async () => {}, true],
])('SE-15 so does the button that signs out to set up an app (%s)', async (_, meanwhile, isKept) => {
  await signIn('finn');
  portal.wait(limits.freshSignIn + 1);
  const form = await formAt(`/portal/twoFactorRegistration?redirectURL=${encodeURIComponent(secret)}`, 'logout');
  expect(form.action).toContain(encodeURIComponent(encodeURIComponent(secret)));
  await meanwhile();
  const { headers } = await send(form);
  expect(headers.location).toMatch(isKept ? /^\/portal\/login\?destination=.*of-alice$/ : /^\/portal\/login$/);
});

it('a second factor that is given up keeps its destination, and so does one in its own turn', async () => {
  const [check] = await formsOfCode('coda');
  await signOut();
  expect((await send(check, { code: '123456' })).headers.location).toBe(`/portal/login?notice=signInExpired&${asked}`);
  const [again] = await formsOfCode('coda');
  const right = await send(again, { code: await codeByMail(portal, 'coda') });
  expect(right.headers.location).toBe(secret);
});

it.each([
  ['a malformed address', 'singleSignOn', 'performSsoLogin', 'Alice.Typed'],
  ['an unknown domain', 'singleSignOn', 'performSsoLogin', 'Alice.Typed@unknown.test'],
  ['a malformed address', 'forgotten', 'password/forgotten', 'Alice.Typed'],
  ['a wait', 'forgotten', 'password/forgotten', 'Alice.Typed@acme.test'],
])(
  'SE-15 sent again after a sign-out that was read, a form shows no typed name: %s at %s',
  async (what, at, call, typed) => {
    const shown = async (form: Form) => {
      const answer = await send(form, { username: typed });
      const { location } = answer.headers;
      return decoded(location ? (await browser.get(String(location))).body : answer.body).includes('Alice.Typed');
    };
    if (what === 'a wait') await everybodyWaits();
    const form = await formAt(`/portal/${at}?${asked}`, call);
    expect(await shown(form), 'in its own turn').toBe(true);
    await aliceComesAndGoes();
    expect(await shown(form)).toBe(false);
  },
);

it('SE-15 nor does the provider get the name', async () => {
  const form = await formAt(`/portal/singleSignOn?${asked}`, 'performSsoLogin');
  const hint = async () => {
    const left = await send(form, { username: 'typed.by@acme.test' });
    return await followLeavePage(browser, left);
  };
  expect(String(await hint())).toContain('typed.by');
  await aliceComesAndGoes();
  expect(String(await hint())).not.toContain('typed.by');
});
