import { describe, expect, it } from 'vitest';
import { hour } from '#server/limits.ts';
import { senderOf } from '#server/mail/message.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { mailServerForTest } from '#test/support/mail-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { askForReset, changeTo, tokenIn } from '#test/support/reset-for-test.ts';
import { everyRow, expectNowhere } from '#test/support/rows-for-test.ts';
import {
  codeByMail,
  codeNow,
  halfSession,
  recoveryCodesShown,
  recoveryCodesUrl,
  registerApp,
  registrationUrl,
  signInWithApp,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { readSmtpUrl } from '../config/server-urls.ts';
import { smtpTransport } from '../mail/smtp-transport.ts';

const portal = portalOfFile({ once: addAttackFixtures });

const canary = 'Canary#Secret-99';
const login = { method: 'POST', url: '/portal/performlogin' } as const;

describe('secrets', () => {
  it('LG-01 PR-14 passwords and tokens of every flow, errors included, are neither logged nor stored in plain text', async () => {
    const secrets = [canary, testPassword];
    for (const username of ['bob', 'nobody', 'dave', 'erin', 'carol', 'sso-only']) {
      for (const password of [canary, testPassword]) {
        const cookies = cookiesOf(await portal.signIn(username, password));
        secrets.push(...Object.entries(cookies).flatMap(([name, value]) => (/session|device/.test(name) ? value : [])));
        await portal.send({ url: '/portal/portal.html', cookies });
        await portal.send({ url: '/portal/session', cookies });
      }
    }
    expect(secrets.length).toBeGreaterThanOrEqual(4);
    for (let guess = 0; guess < 7; guess += 1) await portal.signIn('alice', `${canary}${guess}`);
    const form = { username: 'bob', password: canary };
    const cookies = { 'vestibule-session': canary, 'vestibule-device': canary };
    await portal.send({ ...login, form, cookies, headers: { origin: 'https://evil.example' } });
    await portal.send({ ...login, form, headers: { 'content-type': 'application/json' } });
    await portal.send({ ...login, form, headers: { host: canary } });
    await portal.send({ ...login, body: `username=bob&password=${canary}&password=${canary}` });
    await portal.send({ ...login, body: `username=bob&password=${canary}%00` });
    await portal.send({ ...login, form: { ...form, redirectURL: `https://evil.example/${canary}` } });
    await portal.send({ url: `/portal/performlogin?username=bob&password=${encodeURIComponent(canary)}` });
    await portal.send({ url: `/portal/forgottenChange?hash=${encodeURIComponent(canary)}` });
    await portal.send({
      url: '/portal/login',
      headers: { authorization: `Basic ${canary}`, referer: canary, cookie: canary },
    });
    await portal.send({ method: 'POST', url: '/portal/password/change', form: { hash: canary, password: canary } });
    await portal.send({ method: 'POST', url: '/portal/logout', cookies });
    await expectNowhere(portal, secrets);
  });

  it('LG-01 EM-09 MF-19 nor are second-factor secrets, codes and tokens, errors included', async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addCustomer(portal, 'mail', { twoFactor: 'email' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    await addUser(portal, { username: 'hugo', customers: ['mail'] });
    const secrets: string[] = [];
    const keep = (cookies: Record<string, string>) => {
      secrets.push(...Object.values(cookies).filter((value) => value.length > 20));
      return cookies;
    };
    const half = keep(await halfSession(portal, 'gwen'));
    const { url, totpSecret } = (await portal.send({ url: registrationUrl, cookies: half })).json<
      Record<string, string>
    >();
    const { cookies } = await registerApp(portal, half);
    const { codes } = await recoveryCodesShown(portal, cookies);
    secrets.push(totpSecret ?? '', url?.slice(100, 200) ?? '', ...(codes ?? []), codes?.[0]?.replaceAll('-', '') ?? '');
    await portal.send({ url: `${recoveryCodesUrl}?redirectURL=/portal/${codes?.[0]}`, cookies: keep(cookies) });
    portal.wait(60_000);
    const remembered = await signInWithApp(portal, 'gwen', totpSecret ?? '', { query: '?remember=true' });
    keep(cookiesOf(await portal.signIn('gwen', testPassword, { cookies: keep(remembered) })));
    keep(cookiesOf(await verify(portal, codes?.[0], await halfSession(portal, 'gwen'))));
    const typed = 'TYPED-C0DE-9999';
    const mailed = keep(await halfSession(portal, 'hugo'));
    for (const code of [typed, canary, { code: canary }]) await verify(portal, code, mailed);
    await verify(portal, canary, mailed, { query: `?code=${encodeURIComponent(canary)}` });
    await verifyByForm(portal, { code: canary, redirectURL: `/portal/${encodeURIComponent(canary)}` }, mailed);
    await verifyByForm(portal, { code: canary.repeat(5) }, mailed);
    portal.wait(60_000);
    const digits = [await codeByMail(portal, 'hugo'), codeNow(portal, totpSecret ?? '')];
    await portal.sql`alter table totp add constraint broken check (last_step = 0) not valid`;
    const again = keep(await halfSession(portal, 'gwen'));
    expect((await verify(portal, digits[1], again)).statusCode).toBe(500);
    await portal.sql`alter table totp drop constraint broken`;
    await verify(portal, digits[0], mailed, { headers: { origin: 'https://evil.example' } });
    keep(cookiesOf(await verify(portal, digits[0], mailed)));
    expect(secrets.length).toBeGreaterThan(20);
    await expectNowhere(portal, [...secrets, typed, typed.replaceAll('-', ''), canary]);
    // Six digits may occur inside a longer number by chance, but not on their own.
    const written = portal.logs() + (await everyRow(portal));
    for (const code of digits) {
      const bytes = Buffer.from(code);
      for (const form of [`(?<![0-9a-f])${code}(?![0-9a-f])`, bytes.toString('hex'), bytes.toString('base64')])
        expect(new RegExp(form, 'i').exec(written)).toBeNull();
    }
  });

  it('LG-01 an error says what failed without the row or the statement', async () => {
    const { sql } = portal;
    await sql`alter table session add constraint broken check (token_hash is null) not valid`;
    const answer = await portal.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    await sql`alter table session drop constraint broken`;
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({ type: 'about:blank', title: 'Internal Server Error', status: 500 });
    const [line = ''] = portal.logs().match(/^.*unexpected error.*$/m) ?? [];
    expect(line).toContain('violates check constraint');
    expect(line).not.toMatch(/Failing row|detail|\$argon2|insert into/i);
    await expectNowhere(portal, [canary, testPassword]);
  });

  it('LG-01 PR-14 the token of a link and the new password appear only in the email, whatever fails', async () => {
    const chosen = 'Canary-Harbour-88';
    const server = await mailServerForTest({ tls: 'off' });
    const url = readSmtpUrl(server.url);
    if (url.kind === 'refused') throw new Error(url.problem);
    const transport = smtpTransport(url.value, senderOf({ ...portal.deps.config, mailFrom: 'portal@acme.test' }));
    const tokens: string[] = [];
    portal.onSend(async (mail, words) => {
      if (words.text.includes('hash=')) tokens.push(tokenIn({ ...words, id: '', recipient: '' }));
      await transport.send(mail, words);
    });
    const line = (raw: string) => raw.split('\n').find((text) => text.includes('hash=')) ?? raw;
    for (const words of [line, (raw: string) => raw, (raw: string) => Buffer.from(line(raw)).toString('base64')]) {
      server.behave({ at: 'data', code: 451, words });
      await askForReset(portal, 'alice@acme.test');
      await portal.workOff();
      const [{ problem } = { problem: '' }] = await portal.sql`select problem from job`;
      expect(problem).toMatch(/refused the email: .*\*\*\*/);
      await expectNowhere(portal, tokens);
      portal.wait(hour);
    }
    server.behave('well');
    await portal.workOff();
    expect(server.mails[0]?.raw).toContain(tokens.at(-1));
    const token = tokens.at(-1) ?? '';
    await portal.send({
      url: `/portal/forgottenChange?hash=${token}`,
      headers: { referer: `https://x/?hash=${token}` },
    });
    await portal.send({ method: 'HEAD', url: `/portal/forgottenChange?hash=${token}` });
    // As an email program may mangle it.
    await portal.send({ url: `/portal/forgottenChange%3Fhash=${token}` });
    await portal.send({ url: '/portal/forgottenChange', headers: { authorization: token, accept: token } });
    await changeTo(portal, token, chosen, { repeat: 'x', cookies: { 'vestibule-reset': token } });
    await changeTo(portal, token, chosen, { headers: { origin: 'https://evil.example' } });
    await changeTo(portal, token, chosen, { headers: { host: token } });
    for (const fault of ['update on portal_user', 'insert on job']) {
      await portal.sql.unsafe(`
        create function fault() returns trigger language plpgsql as $$ begin raise exception 'x'; end $$;
        create trigger fault before ${fault} for each row execute function fault()`);
      expect((await changeTo(portal, token, chosen)).statusCode).toBe(500);
      await portal.sql`drop function fault() cascade`;
    }
    for (let n = 0; n < 2; n += 1) await changeTo(portal, token, chosen);
    await portal.workOff();
    expect(server.mails.at(-1)?.parsed.subject).toMatch(/changed/);
    await server.close();
    transport.close();
    await expectNowhere(portal, [...tokens, chosen]);
    expect((await portal.signIn('alice', chosen)).headers.location).toBe('/portal/portal.html');
  });

  it('LG-02 a password typed as an unknown username is not written anywhere', async () => {
    const typed = 'Typed-As-Name#77';
    for (const username of [typed, ` ${typed}`, `${typed}@acme.test`]) await portal.signIn(username, 'x');
    await expectNowhere(portal, [typed, typed.toLowerCase()]);
    const [event] =
      await portal.sql`select username, reason, steps from audit_event where reason = 'unknown-user' order by id desc`;
    expect(event).toMatchObject({ username: null, reason: 'unknown-user' });
  });

  it('LG-03 LG-08 IN-10 IN-12 for any input, each log line is one line of JSON, truncated and safe for a terminal', async () => {
    const hostile = ['a\r\nb', '\u001b[2J', '\u2028', '"}{"level":60', '\u202e', '😀'.repeat(100), 'x'.repeat(320)];
    for (const text of hostile) {
      await portal.sql`delete from throttle`;
      await portal.signIn(text, text);
      const header = Buffer.from(text.replace(/[\r\n]/g, ''))
        .toString('latin1')
        .replaceAll('\u001b', '?');
      const headers = { 'user-agent': header, referer: header, 'accept-language': header, 'x-request-id': header };
      await portal.send({ url: `/portal/${encodeURIComponent(text)}`, headers });
      await portal.send({
        ...login,
        form: { username: 'bob', password: 'x' },
        headers: { ...headers, origin: header },
      });
    }
    const lines = portal.logs().split('\n').slice(0, -1);
    for (const line of lines) {
      const parsed = JSON.parse(line) as Record<string, unknown>;
      expect(Object.keys(parsed)).toEqual(expect.arrayContaining(['level', 'time', 'msg']));
      expect(parsed.level).not.toBe(60);
      expect(line).toMatch(/^[ -~]*$/);
      expect(line.length).toBeLessThan(6000);
    }
    const refused = await portal.sql`select steps from audit_event where event = 'request-refused'`;
    expect(refused.length).toBeGreaterThanOrEqual(hostile.length);
    for (const { steps } of refused) expect(JSON.stringify(steps)).toMatch(/^[ -~]{1,600}$/);
  });
});
