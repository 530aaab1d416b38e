import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { type PortalBehindProxy, portalBehindProxy } from '#test/support/portal-behind-proxy.ts';
import { portalForTest, testPassword } from '#test/support/portal-for-test.ts';

// Real proxies with the files of deploy/, in front of a hub that tells what it is sent.
describe.each(['nginx', 'caddy'] as const)('behind %s', (proxy) => {
  let behind: PortalBehindProxy;
  let session: string;
  beforeAll(async () => {
    behind = await portalBehindProxy(proxy);
    await addAttackFixtures(behind.portal);
    await addUser(behind.portal, { username: 'Zoë O’Neil, 100%', email: 'zoe@acme.test', language: 'de' });
    // The proxy may have to be installed first.
  }, 180_000);
  beforeEach(async () => {
    session = await sessionOf('alice');
  });
  afterAll(() => behind.close());

  const ask = (...request: Parameters<PortalBehindProxy['ask']>) => behind.ask(...request);
  const hubGot = (...request: Parameters<PortalBehindProxy['hubGot']>) => behind.hubGot(...request);
  const sessionOf = (username: string) => behind.sessionOf(username);

  it('GT-13 a signed-out person is sent to sign in, and from there to the page first asked for', async () => {
    const page = '/app/a%20b/list?x=1&y=%2F2';
    const first = await ask(page);
    expect([first.status, first.location]).toEqual([302, `/portal/?${new URLSearchParams({ destination: page })}`]);
    const form = await ask(first.location ?? '');
    expect(form.status).toBe(200);
    const [, destination = ''] = /name="redirectURL" value="([^"]*)"/.exec(form.body) ?? [];
    const redirectURL = destination.replaceAll('&amp;', '&');
    const answer = await behind.portal.signIn('alice', testPassword, {
      from: '127.0.0.1',
      headers: { 'x-forwarded-for': '203.0.113.5' },
      form: { username: 'alice', password: testPassword, redirectURL },
    });
    expect(answer.headers.location).toBe(page);
  });

  it('a signed-in person’s request reaches the hub with who they are', async () => {
    const { url, headers } = await hubGot('/app?x=1&y=2', [['Cookie', session]]);
    expect(url).toBe('/app?x=1&y=2');
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-email')).toBe('alice@acme.test');
    expect(headers.get('x-vestibule-customers')).toBe('acme');
    const zoe = await hubGot('/app', [['Cookie', await sessionOf('Zoë O’Neil, 100%')]]);
    expect(zoe.headers.get('x-vestibule-user')).toBe(encodeURIComponent('Zoë O’Neil, 100%').replace('%27', "'"));
    expect(zoe.headers.get('x-vestibule-language')).toBe('de');
  });

  it('GT-03 GT-04 GT-05 identity headers that a client sends never arrive', async () => {
    const forged: [string, string][] = [
      ['X-Vestibule-User', 'bob'],
      ['X-VESTIBULE-USER', 'bob'],
      ['x_vestibule_user', 'bob'],
      ['X-Vestibule_User', 'bob'],
      ['x_vestibule-user', 'bob'],
      ['X.Vestibule.User', 'bob'],
      ['X-VESTIBULE_USER', 'bob'],
      ['X.Vestibule-User', 'bob'],
      ['X_Vestibule.User', 'bob'],
      ['X-Vestibule.User', 'bob'],
      ['X~Vestibule~User', 'bob'],
      ['X-Vestibule-Token', 'bob'],
      ['X-Vestibule-Language', 'bob'],
      ['X-Vestibule-Email', 'bob'],
      ['X-Vestibule-Customers', 'bob'],
    ];
    const { headers } = await hubGot('/app', [['Cookie', session], ...forged]);
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect([...headers].filter(([, value]) => value.includes('bob'))).toEqual([]);
    const hopByHop = await hubGot('/app', [
      ['Cookie', session],
      ['Connection', 'X-Vestibule-User, X-Vestibule-Email'],
    ]);
    expect(hopByHop.headers.get('x-vestibule-user')).toBe('alice');
    expect(hopByHop.headers.get('x-vestibule-email')).toBe('alice@acme.test');
  });

  it('GT-01 no cookie, and cookies that are no session, let nobody in', async () => {
    const token = session.slice(session.indexOf('=') + 1);
    const cookies = ['', 'vestibule-session=', `vestibule-session=${token}x`, `vestibule-session="${token}"`];
    for (const cookie of [...cookies, `vestibule-session=${'x'.repeat(5000)}`, `${session}; ${session}`, '%00=;;'])
      expect([cookie.slice(0, 40), (await ask('/app', [['Cookie', cookie]])).status]).toEqual([
        cookie.slice(0, 40),
        302,
      ]);
  });

  it('a script, and a request that changes something, get 401 instead of the redirect', async () => {
    expect((await ask('/app/data', [['Accept', 'application/json']])).status).toBe(401);
    expect((await ask('/app/data', [['Sec-Fetch-Mode', 'cors']])).status).toBe(401);
    expect((await ask('/app/data', [], 'POST')).status).toBe(401);
  });

  it('GT-06 what a client says of the page it wants counts nowhere', async () => {
    const lies: [string, string][] = [
      ['X-Forwarded-Uri', '/elsewhere'],
      ['X-Forwarded-Method', 'GET'],
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Original-URL', '/portal/login'],
      ['X-Rewrite-URL', '/portal/login'],
    ];
    const asked = await ask('/app/page', lies);
    expect([asked.status, asked.location]).toEqual([302, '/portal/?destination=%2Fapp%2Fpage']);
    expect((await ask('/app/page', [...lies, ['Accept', 'application/json']])).status).toBe(401);
    expect((await ask('/portal/session', lies)).status).toBe(401);
  });

  it('GT-13 an address that is no page of ours is not where sign-in leads', async () => {
    const { location } = await ask('//evil.example/page');
    expect(location).not.toContain('evil.example');
  });

  it('GT-12 a session that has ended is refused at the very next request', async () => {
    expect((await ask('/app', [['Cookie', session]])).status).toBe(200);
    await behind.portal.sql`delete from session`;
    expect((await ask('/app', [['Cookie', session]])).status).toBe(302);
  });

  it('a customer’s networks are checked at every request', async () => {
    const fenced = await sessionOf('carol');
    expect((await ask('/app', [['Cookie', fenced]])).status).toBe(302);
    expect(
      (
        await ask('/app', [
          ['Cookie', fenced],
          ['X-Forwarded-For', '203.0.113.5'],
        ])
      ).status,
    ).toBe(302);
  });

  it('GT-09 a WebSocket passes for whoever is signed in, and for nobody else', async () => {
    const upgrade: [string, string][] = [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-Fetch-Mode', 'websocket'],
    ];
    expect((await ask('/socket', [['Cookie', session], ...upgrade])).status).toBe(101);
    expect((await ask('/socket', upgrade)).status).toBe(401);
    const foreign: [string, string][] = [['Origin', 'https://blog.example.com']];
    const old = upgrade.filter(([name]) => name !== 'Sec-Fetch-Mode');
    expect((await ask('/socket', [['Cookie', session], ...upgrade, ...foreign])).status).toBe(403);
    expect((await ask('/socket', [['Cookie', session], ...old, ...foreign])).status).toBe(403);
  });

  it.each(['h2c', 'H2C', 'websocket, h2c', 'h2c, websocket', 'TLS/1.0'])(
    'GT-03 GT-12 no tunnel in another protocol: Upgrade: %s',
    async (protocol) => {
      const upgrade: [string, string][] = [
        ['Connection', 'Upgrade, HTTP2-Settings'],
        ['Upgrade', protocol],
        ['HTTP2-Settings', 'AAMAAABkAAQCAAAAAAIAAAAA'],
      ];
      const { headers } = await hubGot('/app', [['Cookie', session], ...upgrade]);
      expect([headers.get('upgrade'), headers.get('http2-settings')]).toEqual([undefined, undefined]);
      expect(headers.get('connection') ?? '').not.toMatch(/upgrade/i);
    },
  );

  it('GT-15 without the database nobody is let in, and the answer says when to try again', async () => {
    behind.wire.cut();
    const { status, retryAfter } = await ask('/app', [['Cookie', session]]);
    behind.wire.mend();
    expect(status).toBe(503);
    expect(retryAfter).toMatch(/^\d+$/);
  });

  it('GT-15 without the portal nobody is let in', async () => {
    await behind.portal.app.close();
    expect([502, 503]).toContain((await ask('/app', [['Cookie', session]])).status);
  });
});

it('nobody but a trusted proxy says which page was asked for', async () => {
  const portal = await portalForTest();
  const answer = await portal.send({ url: '/portal/session', headers: { 'x-forwarded-uri': '/app' } });
  await portal.close();
  expect(answer.statusCode).toBe(401);
});
