import type { Response } from 'light-my-request';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenPaths } from '#contract/screens.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { listeningPortal } from '#test/support/listening-portal.ts';
import { enrolmentOf, newPasskey } from '#test/support/passkey-for-test.ts';
import { beginByLink, type InvitationOptions, makeByLink, postByLink } from '#test/support/passkey-sign-in-for-test.ts';
import { cookiesOf, type PortalForTest, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import {
  askForReset,
  changedPage,
  changeTo,
  hiddenHash,
  invitationFor,
  linkFor,
  newPassword,
  storedHash,
} from '#test/support/reset-for-test.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';
import {
  askForKey,
  codeNow,
  halfSession,
  recoveryCodesUrl,
  registrationUrl,
  sendUrl,
  stateOf,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { startWorkers } from '../operations/workers.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
let portal: PortalForTest;
let cookies: Record<string, string>;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  portal = await portalForTest({}, { database }, { sql: wire.sql });
  await addAttackFixtures(portal);
  cookies = cookiesOf(await portal.signIn('bob', testPassword));
});
afterAll(async () => {
  await portal.close();
  await wire.close();
  await database.close();
});

describe('with the database down', () => {
  it('every page still loads, for visitors and signed-in users', async () => {
    wire.cut();
    for (const path of ['', '/', ...Object.values(screenPaths), '/loginfail/ip?ipaddress=192.0.2.1'])
      for (const sent of [{}, cookies]) {
        const { statusCode, headers } = await portal.send({ url: `/portal${path}`, cookies: sent });
        // Without a cookie no code is pending, which needs no database.
        const isNobodys = sent !== cookies && path.startsWith('/twoFactor');
        expect([path, statusCode, headers.location]).toEqual(
          isNobodys ? [path, 302, '/portal/login'] : [path, 200, undefined],
        );
      }
    expect((await portal.send({ url: '/healthz' })).statusCode).toBe(200);
    expect((await portal.send({ url: '/portal/portal.html' })).statusCode).toBe(302);
  });

  it('the forms say so before the attempt, also to a visitor without cookies, and no more once it is back', async () => {
    wire.mend();
    const stops = startWorkers({ ...portal.deps, log: portal.deps.log });
    const notice = 'class="alert bad"';
    const forms = ['', '/login', '/login?destination=%2Fportal%2Fx', '/singleSignOn', '/forgotten'];
    const said = async (sent: Record<string, string>) =>
      await Promise.all(
        forms.map(async (path) => (await portal.send({ url: `/portal${path}`, cookies: sent })).body.includes(notice)),
      );
    expect(await said({})).toEqual(forms.map(() => false));
    wire.cut();
    await expect.poll(() => said({}), { timeout: 10_000 }).toEqual(forms.map(() => true));
    expect(await said(cookies)).toEqual(forms.map(() => true));
    const page = await portal.send({ url: '/portal/login?destination=%2Fportal%2Fx' });
    expect(page.body).toMatch(/<input type="hidden" name="redirectURL" value="\/portal\/x"/);
    wire.mend();
    await expect.poll(() => said({}), { timeout: 10_000 }).toEqual(forms.map(() => false));
    const reloaded = await portal.send({ url: '/portal/login?destination=%2Fportal%2Fx&notice=unavailable' });
    expect([reloaded.statusCode, reloaded.headers.location]).toEqual([302, '/portal/login?destination=%2Fportal%2Fx']);
    await stops.stop();
  });

  it('what needs it is answered 503 within seconds with Retry-After, and lets nobody in', async () => {
    wire.cut();
    const started = performance.now();
    const requests = [
      () => portal.signIn('bob', testPassword, { headers: { 'accept-language': 'de' } }),
      () => portal.send({ url: '/portal/session', cookies }),
      () => portal.send({ url: '/portal/portal.html', cookies }),
      () => portal.send({ method: 'POST', url: '/portal/logout', cookies }),
    ];
    for (const request of requests) {
      const answer = await request();
      expect(answer.statusCode).toBe(503);
      expect(answer.headers['retry-after']).toBe('5');
      expect(answer.cookies).toEqual([]);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
    const page = await requests[0]?.();
    expect(page?.body).toContain('<html lang="de">');
    expect(page?.body).toContain('href="/portal/login');
    // The script gives the tab's history this address, so that it doesn't keep the password.
    expect(page?.body).toContain('"url":"/portal/login"');
    expect(page?.body).toContain('"isAnswer":true');
    const problem = await portal.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    expect(problem.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(503);
    const foreign = await portal.signIn('bob', testPassword, { headers: { origin: 'https://evil.example' } });
    expect(foreign.statusCode).toBe(403);
    expect(portal.logs()).not.toContain(testPassword);
  });

  it('a forgotten or a new password is answered 503 with the filled-in form, and nothing happens later', async () => {
    wire.mend();
    const token = await linkFor({ ...portal, sql: database.sql }, 'alice');
    const hash = await storedHash({ ...portal, sql: database.sql }, 'alice');
    wire.cut();
    const posts = [
      (more: object = {}) => askForReset(portal, 'alice@acme.test', more),
      (more: object = {}) => changeTo(portal, token, newPassword, more),
    ] as const;
    const pages = [await posts[0](), await posts[1]()];
    for (const page of pages) expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
    expect(pages[0]?.body).toMatch(/<form[^>]*action="\/portal\/password\/forgotten"/);
    expect(pages[0]?.body).toMatch(/<input[^>]*name="username"[^>]*value="alice@acme.test"/);
    expect(pages[1]?.body).toMatch(/<form[^>]*action="\/portal\/password\/change"/);
    expect(hiddenHash(pages[1] as Response)).toBe(token);
    expect(pages[1]?.body).not.toContain(newPassword);
    const inGerman = await posts[1]({ url: '/portal/password/change?lang=de' });
    expect(inGerman.body).toContain('<html lang="de">');
    for (const post of posts) {
      const problem = await post({ headers: { accept: 'application/json' } });
      expect([problem.statusCode, problem.headers['retry-after']]).toEqual([503, '5']);
      expect(problem.json()).toEqual({ type: 'about:blank', title: 'Temporarily not available', status: 503 });
    }
    for (const sent of [{}, { 'vestibule-reset': token }]) {
      const page = await portal.send({ url: `/portal/forgottenChange?hash=${token}`, cookies: sent });
      expect([page.statusCode, hiddenHash(page)]).toEqual([200, token]);
    }
    wire.mend();
    await portal.workOff();
    expect(portal.mails).toHaveLength(0);
    expect(await storedHash({ ...portal, sql: database.sql }, 'alice')).toBe(hash);
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
    expect((await askForReset(portal, 'alice@acme.test')).headers.location).toBe('/portal/emailInfo');
  });

  it('a code of the second factor is neither checked nor counted, its screens show, and it is right afterwards', async () => {
    wire.mend();
    const there = { ...portal, sql: database.sql };
    await addCustomer(there, 'app', { twoFactor: 'app' });
    await addCustomer(there, 'mail', { twoFactor: 'email' });
    await addUser(there, { username: 'gwen', customers: ['app'] });
    await addUser(there, { username: 'hugo', customers: ['mail'] });
    const [gwen, hugo] = [await halfSession(portal, 'gwen'), await halfSession(portal, 'hugo')];
    const { totpSecret } = (await askForKey(portal, gwen)).json<{ totpSecret: string }>();
    portal.wait(60_000);
    const code = codeNow(portal, totpSecret);
    const before = await stateOf(there, true);
    wire.cut();
    const asked = [
      () => verify(portal, code, gwen, { query: '?remember=true' }),
      () => verify(portal, '000000', gwen),
      () => verifyByForm(portal, { code }, gwen),
      () => portal.send({ method: 'POST', url: sendUrl, cookies: hugo }),
      () => portal.send({ method: 'POST', url: sendUrl, cookies: hugo, headers: { accept: '*/*' } }),
      () => portal.send({ url: registrationUrl, cookies: gwen, headers: { accept: 'application/json' } }),
      () => portal.send({ url: recoveryCodesUrl, cookies: gwen }),
    ];
    for (const ask of asked) {
      const answer = await ask();
      expect([answer.statusCode, answer.headers['retry-after'], answer.cookies]).toEqual([503, '5', []]);
      for (const text of [code, totpSecret]) expect(answer.body).not.toContain(text);
    }
    for (const path of ['twoFactor', 'twoFactorRegistration', 'twoFactor?codeSentViaEmail=true&notice=codeWrong'])
      for (const held of [gwen, hugo]) {
        const page = await portal.send({ url: `/portal/${path}`, cookies: held });
        expect([path, page.statusCode]).toEqual([path, 200]);
        expect(page.body).not.toMatch(/gwen|hugo/);
      }
    wire.mend();
    expect(await stateOf(there, true)).toEqual(before);
    expect((await verify(portal, code, gwen)).body).toBe('true');
    const again = await portal.send({ method: 'POST', url: sendUrl, cookies: hugo, headers: { accept: '*/*' } });
    expect(again.statusCode).toBe(204);
  });

  it('a passkey of an invitation is answered 503 with its page, and the link makes one afterwards', async () => {
    wire.mend();
    await addUser({ ...portal, sql: database.sql }, { username: 'ivan', passwordHash: null });
    const hash = await invitationFor(portal, 'ivan');
    const browser = browserForTest(portal);
    const options = (await beginByLink(browser, hash)).json<InvitationOptions>();
    const passkey = newPasskey({ userHandle: Buffer.from(options.user.id, 'base64url') });
    const credential = enrolmentOf(passkey, options);
    wire.cut();
    expect((await beginByLink(browser, hash)).statusCode).toBe(503);
    const page = await postByLink(browser, hash, credential);
    expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
    expect(page.body).toMatch(/<form[^>]*action="\/portal\/passkeys\/invitation"/);
    expect([hiddenHash(page), page.body.includes(credential.slice(0, 99))]).toEqual([hash, false]);
    wire.mend();
    const { location } = await makeByLink(browser, hash);
    expect(location).toBe('/portal/forgottenChangedInfo?invited=passkey');
  });

  it('everything recovers by itself once it is back, with the existing session', async () => {
    wire.cut();
    expect((await portal.signIn('bob', testPassword)).statusCode).toBe(503);
    wire.mend();
    expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    expect((await portal.send({ url: '/readyz' })).statusCode).toBe(200);
    expect((await portal.signIn('bob', testPassword)).headers.location).toBe('/portal/portal.html');
  });

  it('a database that goes silent during a statement gets an answer, and works again once disconnected', async () => {
    const other = await portalForTest(
      {},
      { ...portal, database },
      { sql: wire.sql, timeouts: { handlerTimeout: 300 } },
    );
    expect((await other.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    wire.silence();
    const answer = await other.signIn('bob', testPassword, { headers: { accept: 'application/json' } });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(answer.headers['content-security-policy']).toBeTruthy();
    // Over a socket, Node closes the request once its body has arrived.
    const { host, exchange } = await listeningPortal(other);
    expect((await other.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
    wire.silence();
    const form = `username=bob&password=${testPassword}`;
    const type = 'Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json';
    const { statuses } = await exchange(
      `POST /portal/performlogin HTTP/1.1\r\nHost: ${host}\r\n${type}\r\nContent-Length: ${form.length}\r\n\r\n${form}`,
    );
    expect(statuses).toEqual([503]);
    wire.mend();
    expect((await other.send({ url: '/readyz' })).statusCode).toBe(200);
    await other.close();
  });
});
