import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import type { Database } from '../database/database.ts';

let sql: Database;
const portal = portalOfFile();
beforeAll(async () => {
  sql = portal.deps.sql;
  await addAttackFixtures(portal);
});
afterEach(async () => {
  portal.deps.sql = sql;
  await portal.sql`delete from throttle`;
});

const redirectURL = '/portal/reports/7?from=mail';
const carried = encodeURIComponent(redirectURL);

type Form = { call: string; body: Record<string, string>; keeps: string[] };

const nameKept = (name: string) => `value="${name}"`;
const fieldKept = (name: string) => `type="hidden" name="${name}" value="${redirectURL}"`;
const forms: Form[] = [
  {
    call: 'performlogin',
    body: { username: 'alice', password: testPassword, redirectURL },
    keeps: ['/portal/performlogin"', nameKept('alice'), fieldKept('redirectURL')],
  },
  {
    call: 'authenticate/checkSsoLogin',
    body: { redirectURLSSO: redirectURL },
    keeps: ['/portal/performlogin"', fieldKept('redirectURL')],
  },
  {
    call: 'authenticate/performSsoLogin',
    body: { username: 'alice@acme.test', redirectURL },
    keeps: ['/portal/authenticate/performSsoLogin"', nameKept('alice@acme.test'), fieldKept('redirectURL')],
  },
  {
    call: `password/forgotten?destination=${carried}`,
    body: { username: 'alice@acme.test' },
    keeps: [`/portal/password/forgotten?destination=${carried}`, nameKept('alice@acme.test')],
  },
  {
    call: 'two-factor-authentication/verify',
    body: { code: '123456', redirectURL, codeSentViaEmail: 'true' },
    keeps: ['/portal/two-factor-authentication/verify"', fieldKept('redirectURL')],
  },
  {
    call: 'two-factor-authentication/send',
    body: { redirectURL, codeSentViaEmail: 'true' },
    keeps: ['/portal/two-factor-authentication/verify"', fieldKept('redirectURL')],
  },
];
const reference = /\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/;

async function post({ call, body }: Form) {
  const answer = await portal.send({ method: 'POST', url: `/portal/${call}`, form: body, cookies: half });
  const page = answer.body.slice(0, answer.body.indexOf('<script')).replaceAll('&amp;', '&');
  return { status: answer.statusCode, wait: answer.headers['retry-after'], page, body: answer.body };
}

/** Whatever it stands for cannot be looked up while the database is down. */
const half = { 'vestibule-session': 'h'.repeat(43) };

describe.each(forms)('the form of $call', (form) => {
  it('is given again while the database is down, with the name and the destination', async () => {
    everyStatementFails();
    const { status, wait, page, body } = await post(form);
    expect([status, wait]).toEqual([503, '5']);
    for (const kept of form.keeps) expect(page).toContain(kept);
    expect(page).toMatch(reference);
    for (const secret of [testPassword, '123456']) expect(body).not.toContain(secret);
  });
});

describe.each(forms.slice(0, 4))('the form of $call', (form) => {
  it('is given again to an address that has to wait, with the name and the destination', async () => {
    await everybodyWaits();
    const { status, wait, page, body } = await post(form);
    expect([status, Number(wait) > 0]).toEqual([429, true]);
    for (const kept of form.keeps) expect(page).toContain(kept);
    expect(page).toMatch(reference);
    expect(body).not.toContain(testPassword);
  });
});

const buttons: { call: string; body: Record<string, string>; again: string }[] = [
  {
    call: `logout?destination=${carried}&forget=connection`,
    body: {},
    again: `action="/portal/logout?destination=${carried}&forget=connection"`,
  },
];

describe.each(buttons)('the button of $call', ({ call, body, again }) => {
  const press = async (cookies: Record<string, string>) => {
    const answer = await portal.send({ method: 'POST', url: `/portal/${call}`, form: body, cookies });
    const text = answer.body.slice(0, answer.body.indexOf('<script')).replaceAll('&amp;', '&');
    return { answer, text };
  };

  it('can be pressed again while the database is down, and nothing has happened', async () => {
    everyStatementFails();
    const { answer, text } = await press(half);
    expect([answer.statusCode, answer.headers['retry-after'], answer.cookies]).toEqual([503, '5', []]);
    expect(text).toContain(`<form ${again}`);
    expect(text).toMatch(/<button[^>]*>Try again<\/button>/);
    expect(text).toMatch(reference);
  });

  it('is given a problem document if a script pressed it', async () => {
    everyStatementFails();
    const headers = { accept: 'application/json' };
    const answer = await portal.send({ method: 'POST', url: `/portal/${call}`, form: body, cookies: half, headers });
    expect(answer.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
  });
});

it('what was opened and failed can be opened again at the same address', async () => {
  everyStatementFails();
  const { statusCode, body } = await portal.send({ url: '/portal/portal.html?x=1', cookies: half });
  expect(statusCode).toBe(503);
  expect(body).toMatch(/<a [^>]*href=""[^>]*>Try again/);
});

it('a script is told by a problem document', async () => {
  everyStatementFails();
  const headers = { accept: 'application/json' };
  const answer = await portal.signIn('alice', testPassword, { headers });
  expect(answer.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
});

function everyStatementFails(): void {
  const fail = () => {
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  };
  portal.deps.sql = Object.assign(fail, sql) as unknown as Database;
}

async function everybodyWaits(): Promise<void> {
  const until = new Date(portal.deps.now().getTime() + limits.throttle.address.longestWait);
  for (const kind of ['address', 'sso-address', 'reset-address'])
    await portal.sql`
      insert into throttle (key, failures, changed_at, blocked_until, admitted)
      values (${`${kind}:${testAddress}`}, 99999, ${portal.deps.now()}, ${until}, true)`;
}
