import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type PortalBehindProxy, portalBehindProxy } from '#test/support/portal-behind-proxy.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import type { HubAudience } from '../config/hub.ts';

// Real proxies with the files of deploy/ and their examples: /public/ is open, /reports is for acme and gets a token.
describe.each(['nginx', 'caddy'] as const)('behind %s', (proxy) => {
  let behind: PortalBehindProxy;
  let alice: [string, string];
  let beth: [string, string];
  beforeAll(async () => {
    const crm: HubAudience = { name: 'crm', logoutUrl: null, logoutNetworks: [] };
    behind = await portalBehindProxy(proxy, { rules: 'customer=acme&audience=crm', config: { hubAudiences: [crm] } });
    await addAttackFixtures(behind.portal);
    await addCustomer(behind.portal, 'beta');
    await addUser(behind.portal, {
      ...{ username: 'Zoë O’Neil, 100%', email: 'zoe@acme.test', language: 'de', name: 'O’Neil, Zoë {env.PATH} $uri' },
      groups: Array.from({ length: 200 }, (_, n) => `acme:Süd, ${n + 100}`),
    });
    await addUser(behind.portal, { username: 'beth', email: 'beth@beta.test', customers: ['beta'] });
    // The proxy may have to be installed first.
  }, 180_000);
  beforeEach(async () => {
    alice = ['Cookie', await behind.sessionOf('alice')];
    beth = ['Cookie', await behind.sessionOf('beth')];
  });
  afterAll(() => behind.close());

  const headOf = (start: string, ...lines: string[][]) =>
    [`${start} HTTP/1.1`, `Host: localhost:${behind.port}`, beth.join(': '), ...lines.flat(), '', ''].join('\r\n');
  const statusOf = async (...request: Parameters<PortalBehindProxy['ask']>) => (await behind.ask(...request)).status;

  it('GT-13 a signed-out person is sent to sign in, and from there to the page first asked for', async () => {
    const page = '/app/a%20b/list?x=1&y=%2F2';
    const first = await behind.ask(page);
    expect([first.status, first.location]).toEqual([302, `/portal/?${new URLSearchParams({ destination: page })}`]);
    const long = `/app?${'journals%5B%5D=7&'.repeat(250)}`;
    expect((await behind.ask(long)).location).toBe(`/portal/?${new URLSearchParams({ destination: long })}`);
    const form = await behind.ask(first.location ?? '');
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
    const { url, headers } = await behind.hubGot('/app?x=1&y=2', [alice]);
    expect(url).toBe('/app?x=1&y=2');
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-email')).toBe('alice@acme.test');
    expect(headers.get('x-vestibule-customers')).toBe('acme');
    const zoe = await behind.hubGot('/app', [['Cookie', await behind.sessionOf('Zoë O’Neil, 100%')]]);
    expect(zoe.headers.get('x-vestibule-user')).toBe('Zo%C3%AB O%E2%80%99Neil%2C 100%25');
    expect(zoe.headers.get('x-vestibule-name')).toBe('O%E2%80%99Neil, Zo%C3%AB {env.PATH} $uri');
    expect(zoe.headers.get('x-vestibule-groups')).toMatch(/^acme:S%C3%BCd%2C 100,acme:S%C3%BCd%2C 101,/);
    expect(zoe.headers.get('x-vestibule-language')).toBe('de');
  });

  it('GT-03 GT-04 GT-05 identity headers that a client sends never arrive', async () => {
    const names = [
      ...['User', 'Email', 'Name', 'Customers', 'Groups', 'Language', 'Token'].map((name) => `X-Vestibule-${name}`),
      ...['X-VESTIBULE-USER', 'x_vestibule_user', 'X-Vestibule_User', 'x_vestibule-user', 'X.Vestibule.User'],
      ...['X-VESTIBULE_USER', 'X.Vestibule-User', 'X_Vestibule.User', 'X-Vestibule.User', 'X~Vestibule~User'],
    ];
    const forged = names.map((name): [string, string] => [name, 'bob']);
    const { headers } = await behind.hubGot('/app', [alice, ...forged]);
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect([...headers].filter(([, value]) => value.includes('bob'))).toEqual([]);
    const hopByHop = await behind.hubGot('/app', [alice, ['Connection', 'X-Vestibule-User, X-Vestibule-Email']]);
    expect(hopByHop.headers.get('x-vestibule-user')).toBe('alice');
    expect(hopByHop.headers.get('x-vestibule-email')).toBe('alice@acme.test');
  });

  it('GT-01 no cookie, and cookies that are no session, let nobody in', async () => {
    const [, session] = alice;
    const token = session.slice(session.indexOf('=') + 1);
    const cookies = ['', 'vestibule-session=', `vestibule-session=${token}x`, `vestibule-session="${token}"`];
    for (const cookie of [...cookies, `vestibule-session=${'x'.repeat(5000)}`, `${session}; ${session}`, '%00=;;'])
      expect([cookie.slice(0, 40), (await behind.ask('/app', [['Cookie', cookie]])).status]).toEqual([
        cookie.slice(0, 40),
        302,
      ]);
  });

  it('GT-06 what a client says of the page it wants counts nowhere', async () => {
    const lies: [string, string][] = [
      ['X-Forwarded-Uri', '/elsewhere'],
      ['X-Forwarded-Method', 'GET'],
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Original-URL', '/portal/login'],
      ['X-Rewrite-URL', '/portal/login'],
    ];
    const asked = await behind.ask('/app/page', lies);
    expect([asked.status, asked.location]).toEqual([302, '/portal/?destination=%2Fapp%2Fpage']);
    expect((await behind.ask('/app/page', [...lies, ['Accept', 'application/json']])).status).toBe(401);
    expect((await behind.ask('/portal/session', lies)).status).toBe(401);
  });

  it('GT-09 a WebSocket passes for whoever is signed in at a page of ours, and for nobody else', async () => {
    const upgrade: [string, string][] = [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ['Sec-WebSocket-Version', '13'],
      ['Sec-Fetch-Mode', 'websocket'],
    ];
    const own: [string, string] = ['Origin', `http://localhost:${behind.port}`];
    expect([await statusOf('/socket', [alice, ...upgrade, own]), await statusOf('/socket', upgrade)]).toEqual([
      101, 401,
    ]);
    const old = upgrade.filter(([name]) => name !== 'Sec-Fetch-Mode');
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null'])
      for (const head of [upgrade, old])
        expect(await statusOf('/socket', [alice, ...head, ['Origin', origin]]), origin).toBe(403);
  });

  it('a page for certain customers is for their users only', async () => {
    expect(await statusOf('/reports/2026?x=1', [alice])).toBe(200);
    expect(await statusOf('/reports/2026?x=1', [beth])).toBe(403);
    expect(await statusOf('/other', [beth])).toBe(200);
    expect((await behind.ask('/reports/2026')).location).toContain('destination=%2Freports%2F2026');
    expect(await statusOf('/reports/2026', [['Accept', 'application/json']])).toBe(401);
  });

  it('GT-07 another spelling makes no page a public one of a hub that resolves it', async () => {
    const paths = [
      '/app?x=/public/ /app?/public/x /app;/public/ /app/public/x /publicx /public /PUBLIC/../app',
      '/public/../app /public/%2e%2e/app /public/.%2e/app /public/..%2fapp /public%2f..%2fapp',
      '/public/..;/app /public/..;x=1/app /public/x/../../app /public//../../app //public/../app',
      '/public/..%5capp /public/..\\app /public/%252e%252e/app /public./../app /./app /app/../app',
      '/app#/public/ /app%23/public/ /app%3f/public/ /app%00/public/ /public/%00/../../app',
    ].flatMap((line) => line.split(' '));
    for (const path of paths) {
      const { status, body } = await behind.ask(path);
      if (status === 200) expect(resolvedByHub(JSON.parse(body).url), path).toMatch(/^\/public\//);
      else expect([301, 302, 400, 401, 404], path).toContain(status);
    }
  });

  it('GT-07 another spelling shows other customers’ users nothing of a hub that resolves it', async () => {
    const paths = [
      '/reports /reports/ /reports?x /REPORTS/x /%72eports/x //reports/x /reports;a=1 /reports;/x',
      '/./reports/x /x/../reports/x /x/%2e%2e/reports /x/..%2freports /x/..;/reports /x/..\\reports',
      '/reports/../reports/x /public/../reports /public/%2e%2e/reports /reports%2fx',
      '/reports/?customer=beta /reports/x?customer=beta&customer=acme /reports#x ///reports',
      '/x//../reports /x/./../reports',
    ].flatMap((line) => line.split(' '));
    for (const path of paths) {
      const { status, body } = await behind.ask(path, [beth]);
      if (status === 200) expect(resolvedByHub(JSON.parse(body).url), path).not.toMatch(/^\/reports(?:\/|$)/i);
      else expect([302, 400, 403, 404], path).toContain(status);
    }
  });

  it.each(['h2c, websocket', 'websocket, h2c', 'websocket, websocket'])(
    'GT-03 GT-12 no tunnel in another protocol by a line for each: %s',
    async (protocols) => {
      for (const path of ['/app', '/public/x']) {
        const { status, heads } = await behind.naiveHubGot(
          headOf(
            `GET ${path}`,
            ['Connection: Upgrade, HTTP2-Settings, X-Vestibule-User'],
            [
              ...protocols.split(', ').map((protocol) => `Upgrade: ${protocol}`),
              ...['HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA', ...socketKey],
            ],
          ),
        );
        expect([status, heads.length]).toEqual([200, 1]);
        const about = heads.flat().filter((line) => /^(?:upgrade|connection|http2-settings):/i.test(line));
        const said = about.map((line) => line.toLowerCase()).sort();
        expect([['connection: close'], ['connection: upgrade', 'upgrade: websocket']]).toContainEqual(said);
      }
    },
  );

  it('GT-15 without the database nobody is let in, and the answer says when to try again', async () => {
    behind.wire.cut();
    const { status, retryAfter } = await behind.ask('/app', [alice]);
    behind.wire.mend();
    expect(status).toBe(503);
    expect(retryAfter).toMatch(/^\d+$/);
  });

  it('GT-15 without the portal nobody is let in', async () => {
    await behind.portal.app.close();
    expect([502, 503]).toContain((await behind.ask('/app', [alice])).status);
  });
});

const socketKey = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];

/** The path that a hub serves which decodes once, and resolves dots, double slashes, backslashes and path parameters. */
function resolvedByHub(url: string): string {
  const [path = ''] = url.split(/[?#]/);
  const plain = decodeURIComponent(path)
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .replace(/[?#]/g, encodeURIComponent);
  return new URL(`http://hub${plain}`).pathname;
}
