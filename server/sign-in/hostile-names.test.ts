import { beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { giveApp, halfSession, recoveryCodesUrl, registerApp } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });

/** Who is signed in by a typed name with every test user's password; null for nobody. */
async function enters(name: string): Promise<string | null> {
  await portal.sql`delete from throttle`;
  await emptyTables(portal, 'audit_event');
  const { headers } = await portal.signIn(name, testPassword);
  const [event] = await portal.sql`select username from audit_event where event = 'signed-in'`;
  expect(headers.location).toBe(event ? '/portal/portal.html' : '/portal/loginfail/default');
  return event?.username ?? null;
}

describe('names in Unicode', () => {
  beforeAll(async () => {
    await addUser(portal, { username: 'kass', email: 'kass@bücher.test' });
  });

  // Folding itself: names/read-name.test.ts.
  it('UN-02 UN-03 a name that only looks like another matches nobody', async () => {
    const twins =
      'alıce аlice al\u00adice ali\u0441e a1ice alice\u0301 kaß kass@bucher.test kass@evil.test@bücher.test';
    for (const twin of twins.split(' ')) expect([twin, await enters(twin)]).toEqual([twin, null]);
  });

  it('UN-02 UN-04 UN-05 another form of the very same letters is the same name and account', async () => {
    const forms = {
      alice: ['ALICE', 'ａｌｉｃｅ', '\u00a0alice\u3000', '𝐚𝐥𝐢𝐜𝐞', '\u200ealice', '\u202aalice\u202c', 'alice\u200b'],
      kass: ['\u212aass', 'ka\u017f\u017f', 'KASS@XN--BCHER-KVA.test', 'kass@bücher.test.', 'kass@bu\u0308cher.test'],
    };
    for (const [name, written] of Object.entries(forms))
      for (const form of written) expect([form, await enters(form)]).toEqual([form, name]);
  });
});

const failed = '/portal/loginfail/default';

async function accounts(): Promise<string> {
  const { sql } = portal;
  const tables = ['portal_user', 'login_name', 'customer', 'membership'];
  return JSON.stringify(await Promise.all(tables.map((table) => sql`select t::text from ${sql(table)} t order by 1`)));
}

/** The page without the data for the script, which is JSON and tested separately. */
async function pageOf(url: string, cookies: Record<string, string> = {}): Promise<string> {
  const { body } = await portal.send({ url, cookies });
  const data = /<script type="application\/json" id="page">(.*?)<\/script>/s.exec(body)?.[1] ?? '';
  expect(() => JSON.parse(data)).not.toThrow();
  expect(data).not.toMatch(/[<\u2028\u2029]/);
  return body.replace(data, '');
}

const scripts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</script><b>',
  'javascript:alert(1)',
  '<!--',
  '\u2028',
  ['{{7*7}}', '{7*7}', '#{7*7}'].join('$'),
];

describe('injection', () => {
  it('IN-01 SQL in every field is text like any other', async () => {
    const before = await accounts();
    await portal.sql`delete from session`;
    for (const text of [
      "' OR 1=1--",
      '"; drop table portal_user; --',
      "\\'",
      '$1',
      '%27',
      "bob' --",
      "bob'/*",
      '%',
      '_',
      'b%',
      "'||pg_sleep(30)||'",
      '*)(uid=*))(|(uid=*',
      '{"$gt":""}',
    ]) {
      await portal.sql`delete from throttle`;
      const started = performance.now();
      expect((await portal.signIn(text, text)).headers.location, text).toBe(failed);
      expect((await portal.signIn('bob', text)).headers.location, text).toBe(failed);
      expect(performance.now() - started, text).toBeLessThan(20_000);
      const cookies = { 'vestibule-session': encodeURIComponent(text), 'vestibule-device': encodeURIComponent(text) };
      expect((await portal.send({ url: '/portal/session', cookies })).statusCode, text).toBe(401);
    }
    expect(await accounts()).toBe(before);
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it('IN-02 IN-04 IN-06 IN-09 IN-15 markup in a query, a path or a name is shown as text', async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    await giveApp(portal, 'gwen');
    const half = await halfSession(portal, 'gwen');
    const username = '</script><b>"&<img/src=x>';
    await addUser(portal, { username, customers: ['app'], email: 'markup@acme.test' });
    const registering = await halfSession(portal, username);
    const queryOf = (text: string) =>
      `?redirectURL=${text}&notice=${text}&offset=${text}&recovery=${text}&lang=${text}`;
    const pages: string[] = [];
    for (const script of scripts)
      pages.push(await pageOf(`/portal/twoFactorRegistration${queryOf(encodeURIComponent(script))}`, registering));
    const { cookies: registered } = await registerApp(portal, await halfSession(portal, username));
    for (const script of scripts) {
      const text = encodeURIComponent(script);
      const query = queryOf(text);
      const typed = cookiesOf(await portal.signIn(script, 'x'));
      pages.push(
        await pageOf(`/portal/login?login=${text}`),
        await pageOf('/portal/login', typed),
        await pageOf(failed, typed),
        await pageOf(`/portal/loginfail/ip?ipaddress=${text}`),
        await pageOf(`/portal/loginfail/${text}`),
        await pageOf(`/portal/nothing/${text}?${text}`),
        await pageOf(`/portal/forgottenChange?hash=${text}&reason=${text}&notice=${text}`),
        await pageOf(`/portal/twoFactor${query}`, half),
        await pageOf(`/portal/login?destination=${text}&redirectURL=${text}`),
        await pageOf(recoveryCodesUrl + query, registered),
        await pageOf('/portal/portal.html', registered),
      );
    }
    for (const page of pages) {
      // A product that a template engine would compute and no random reference contains.
      expect(page).not.toMatch(
        /<script>|<img[ /]src=x|<svg onload|<b>|<!--(?!\$|\/\$| )|href="javascript:|9449772114007/,
      );
      // Only our scripts: the data and the one file.
      expect(page.match(/<script/g)).toHaveLength(2);
    }
    expect(await pageOf('/portal/login?login=%22%3E%3Cb%3E')).toContain('value="&quot;&gt;&lt;b&gt;"');
    const url = `/portal/twoFactor?redirectURL=${encodeURIComponent('/x\r\nA: b')}`;
    expect((await portal.send({ url, cookies: registering })).headers.location).toBe(
      '/portal/login?destination=%2Fx%0D%0AA%3A+b',
    );
  });

  it('IN-03 IN-07 IN-08 names that are special in JavaScript are ordinary here', async () => {
    const plain = (await portal.send({ url: failed })).body.match(/<h1[^>]*>.*?<\/h1>/)?.[0];
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'default?x', '%00']) {
      const { statusCode, body } = await portal.send({ url: `/portal/loginfail/${name}` });
      expect(statusCode, name).toBe(200);
      expect(body, name).toContain(plain);
      expect((await portal.send({ url: `/portal/${name}` })).statusCode, name).toBe(404);
    }
    for (const lang of ['../../etc/passwd', '__proto__', 'constructor', 'xx', 'd', 'de%00', '%E2%80%AE'])
      for (const request of [
        { url: `/portal/login?lang=${lang}` },
        { url: '/portal/login', cookies: { language: lang } },
      ])
        expect((await portal.send(request)).body, lang).toContain('<html lang="en">');
    const polluting = ['__proto__[x]=1', '__proto__=1', 'constructor[prototype][x]=1', '__proto__.x=1', 'toString=1'];
    for (const pair of polluting) {
      const body = `username=bob&password=x&${pair}`;
      expect((await portal.send({ method: 'POST', url: '/portal/performlogin', body })).headers.location).toBe(failed);
      await portal.send({ url: `/portal/login?${pair}` });
      expect(({} as Record<string, unknown>).x).toBeUndefined();
    }
  });

  it('IN-10 IN-12 line ends, direction marks and a megabyte in a name add no header and match no user', async () => {
    for (const name of ['bob\r\nSet-Cookie: x=y', 'a\u202eb', '😀'.repeat(320)]) {
      const { headers, statusCode } = await portal.signIn(name, 'x', { headers: { 'accept-language': 'de' } });
      expect(statusCode).toBe(303);
      expect(headers.location).toBe(failed);
      const [cookie = '', ...more] = [headers['set-cookie'] ?? []].flat();
      expect(more).toEqual([]);
      expect(cookie.length).toBeLessThan(4096);
      const [, value = ''] = /^vestibule-next-page=([\w-]+);/.exec(cookie) ?? [];
      const next = await portal.send({ url: '/portal/login', cookies: { 'vestibule-next-page': value } });
      expect(next.body).toContain(name.slice(0, 3));
      expect(JSON.stringify(headers)).not.toContain('Set-Cookie: x');
    }
    expect((await portal.signIn('x'.repeat(1_000_000), 'x')).statusCode).toBe(413);
    expect((await portal.signIn('😀'.repeat(321), 'x')).statusCode).toBe(400);
  });

  it('IN-16 a problem document is never HTML, and shortens what it repeats', async () => {
    const body = `username=a&${encodeURIComponent('<script>')}${'x'.repeat(5000)}=%00`;
    const answer = await portal.send({ method: 'POST', url: '/portal/performlogin', body, headers: { accept: '*/*' } });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.body.length).toBeLessThan(500);
  });
});
