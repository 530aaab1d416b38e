import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addUser } from '#test/support/accounts-for-test.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type Answer, type GateForTest, gateForTest, headersOf, type Received } from '#test/support/hub-for-test.ts';
import type { HubAudience } from '../config/hub.ts';
import { headersForHub } from './hub-headers.ts';

const audience: HubAudience = { name: 'hub', logoutUrl: null, logoutNetworks: [] };

let gate: GateForTest;
let session: string;
beforeAll(async () => {
  gate = await gateForTest({
    paths: ['/portal/portal.html', '/app'],
    publicPaths: ['/app/help'],
    secret: 'shared-with-the-hub-shared-with-the-hub',
    audience,
    config: { hubAudiences: [audience] },
  });
  await addUser(gate.portal, {
    ...{ username: 'Zoë, 100%', email: 'zoe@acme.test', language: 'de', name: 'O’Neil, Zoë' },
    groups: ['acme:a,b', 'acme:Domain Users', 'acme:Süd\r\nX-Vestibule-User: bob'],
  });
  const groups = Array.from({ length: 200 }, (_, n) => `acme:${'ü'.repeat(20)}${n + 100}`);
  await addUser(gate.portal, { username: 'many', groups });
});
beforeEach(async () => {
  session = await gate.sessionOf('alice');
  gate.hub.received.length = 0;
});
afterAll(() => gate.close());

const destinationOf = ({ headers }: Answer) =>
  new URL(headers.location ?? '', 'http://portal').searchParams.get('destination');

const script: [string, string] = ['Accept', 'application/json'];

async function hubGot(path: string, headers: [string, string][] = [], cookie = session) {
  const answer = await gate.ask(path, { headers, cookie });
  expect(answer.status).toBe(200);
  const received = JSON.parse(answer.body) as Received;
  return { ...received, headers: headersOf(received) };
}

describe('who reaches the hub', () => {
  it('a signed-in person does, with who they are, and the path and query as they were sent', async () => {
    const { url, headers } = await hubGot('/app/a%20b%2Fc/;x//y?x=1&y=%2F2&&');
    expect(url).toBe('/app/a%20b%2Fc/;x//y?x=1&y=%2F2&&');
    const odd = ['/app/C%23', '/app/F%23/Intro?x=%23', '/app/C%2523', '/app/a%3Fb', '/app/caf%E9', '/app/%zz?x=%C3%BC'];
    for (const path of odd) {
      expect((await hubGot(path)).url).toBe(path);
      expect(destinationOf(await gate.ask(path))).toBe(path);
    }
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-email')).toBe('alice@acme.test');
    expect(headers.get('x-vestibule-customers')).toBe('acme');
    const zoe = await hubGot('/app', [], await gate.sessionOf('Zoë, 100%'));
    expect(zoe.headers.get('x-vestibule-user')).toBe('Zo%C3%AB%2C 100%25');
    expect(zoe.headers.get('x-vestibule-name')).toBe('O%E2%80%99Neil, Zo%C3%AB');
    expect(zoe.headers.get('x-vestibule-groups')).toBe(
      'acme:Domain Users,acme:S%C3%BCd%0D%0AX-Vestibule-User: bob,acme:a%2Cb',
    );
    expect(zoe.headers.get('x-vestibule-language')).toBe('de');
  });

  it('more groups than fit a header lock nobody out: the first ones arrive, in the token too', async () => {
    const { headers } = await hubGot('/app', [], await gate.sessionOf('many'));
    const groups = headers.get('x-vestibule-groups')?.split(',') ?? [];
    expect([groups.length, groups.at(-1)]).toEqual([31, `acme:${'%C3%BC'.repeat(20)}130`]);
    expect(decodeJwt(headers.get('x-vestibule-token') ?? '').groups).toEqual(groups.map(decodeURIComponent));
  });

  it('GT-01 no cookie, and cookies that are no session, let nobody in', async () => {
    const token = session.slice(session.indexOf('=') + 1);
    const bad = ['', 'vestibule-session=', `vestibule-session=${token}x`, `vestibule-session="${token}"`, '%00=;;'];
    for (const cookie of [...bad, `vestibule-session=${'x'.repeat(8000)}`, `${session}; ${session}`]) {
      expect((await gate.ask('/app', { cookie })).status, cookie.slice(0, 40)).toBe(302);
      expect((await gate.ask('/app', { cookie, headers: [script] })).status, cookie.slice(0, 40)).toBe(401);
    }
    expect(gate.hub.received).toEqual([]);
  });

  it('GT-13 a signed-out person is sent to sign in, and from there to the page first asked for', async () => {
    const page = '/app/a%20b/list?x=1&y=%2F2';
    const { status, headers } = await gate.ask(page);
    expect([status, headers.location]).toEqual([302, `/portal/?${new URLSearchParams({ destination: page })}`]);
    const form = await gate.ask(headers.location ?? '');
    const [, destination = ''] = /name="redirectURL" value="([^"]*)"/.exec(form.body) ?? [];
    const answer = await gate.portal.signIn('alice', 'Lantern-Harbour-42', {
      form: { username: 'alice', password: 'Lantern-Harbour-42', redirectURL: destination.replaceAll('&amp;', '&') },
    });
    expect(answer.headers.location).toBe(page);
    expect((await gate.ask('/app', { method: 'POST' })).status).toBe(401);
    const long = (values: number) =>
      `/app/reports?${Array.from({ length: values }, (_, index) => `journals%5B%5D=${100 + index}`).join('&')}`;
    expect(destinationOf(await gate.ask(long(160)))).toBe(long(160));
    expect(destinationOf(await gate.ask(long(400)))).toBeNull();
    expect((await gate.ask((await gate.ask(long(400))).headers.location ?? '')).body).toContain(
      'can’t remember that page',
    );
  });

  it('GT-12 SE-09 SE-12 IP-14 an ended session, an inactive user and a foreign network are refused at the next request', async () => {
    await hubGot('/app');
    await gate.portal.sql`update customer set allowed_networks = '{203.0.113.0/24}' where key = 'acme'`;
    expect((await gate.ask('/app', { cookie: session })).status).toBe(302);
    await gate.portal.sql`update customer set allowed_networks = '{}' where key = 'acme'`;
    await hubGot('/app');
    await gate.portal.sql`update portal_user set active = false where username = 'alice'`;
    expect((await gate.ask('/app', { cookie: session })).status).toBe(302);
    await gate.portal.sql`update portal_user set active = true where username = 'alice'`;
    await gate.portal.sql`delete from session`;
    expect((await gate.ask('/app', { cookie: session })).status).toBe(302);
  });
});

describe('GT-03 GT-04 GT-05 the gate’s voice', () => {
  const spelled = ['User', 'Email', 'Name', 'Customers', 'Groups', 'Language', 'Token', 'Hub-Secret'].flatMap(
    (part) => {
      const name = `X-Vestibule-${part}`;
      return [
        name,
        name.toUpperCase(),
        name.replaceAll('-', '_'),
        name.replace('-', '.'),
        name.replace(/-(?=[^-]+$)/, '!'),
      ];
    },
  );

  it('is never a client’s, however it is spelled or repeated', async () => {
    const forged = [...spelled, ...spelled].map((name): [string, string] => [name, 'mallory']);
    const { rawHeaders, headers } = await hubGot('/app', forged);
    expect(rawHeaders.filter((value) => value.includes('mallory'))).toEqual([]);
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-language')).toBe('');
  });

  it('is never a client’s by the names that an operator gives the headers', () => {
    const names = { user: 'Remote-User', email: 'Remote-Email', name: 'Remote-Name', groups: 'Remote-Groups' };
    const { config } = gate.portal.deps;
    const forged = {
      'remote-user': 'bob',
      remote_groups: 'acme:admins',
      'REMOTE-NAME': 'Bob',
      'remote.email': 'b@b.b',
    };
    const told = headersForHub({ ...config, identityHeaders: { ...config.identityHeaders, ...names } });
    const own = told({ host: 'hub', accept: '*/*', ...forged }, { address: '127.0.0.1', person: null, token: null });
    expect(Object.keys(own).filter((name) => /remote/i.test(name))).toEqual([]);
  });

  it('GT-16 arrives with the secret shared with the hub, whatever the client names in Connection', async () => {
    const { headers } = await hubGot('/app', [
      ['Connection', 'X-Vestibule-User, x-vestibule-email, X-Forwarded-For, X-Vestibule-Hub-Secret, X-Own, close'],
      ['X-Own', 'for one connection'],
    ]);
    expect(headers.get('x-vestibule-user')).toBe('alice');
    expect(headers.get('x-vestibule-email')).toBe('alice@acme.test');
    expect(headers.get('x-vestibule-hub-secret')).toBe('shared-with-the-hub-shared-with-the-hub');
    expect(headers.get('x-forwarded-for')).toBe('127.0.0.1');
    expect(headers.has('x-own')).toBe(false);
  });
});

describe('what is passed on', () => {
  it('GT-06 claims about where a request comes from, its address and its method are the gate’s alone', async () => {
    const others =
      'X-Ms-Original-Url X-Waws-Unencoded-Url X-Envoy-Original-Path X-HTTP-Method-Override X_HTTP_Method X-Method-Override ' +
      'X-Original-Host X-Host X-Azure-ClientIP CF-Connecting-IP True-Client-IP WL-Proxy-Client-IP X-Remote-Addr Proxy';
    const { rawHeaders, headers } = await hubGot('/app', [
      ...others.split(' ').map((name): [string, string] => [name, 'claimed']),
      ['X-Forwarded-For', '203.0.113.9'],
      ['X_Forwarded_For', '203.0.113.9'],
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'gopher'],
      ['X-Forwarded-Uri', '/admin'],
      ['X-Forwarded-Prefix', '/admin'],
      ['Forwarded', 'for=203.0.113.9'],
      ['X-Original-URL', '/admin'],
      ['X-Rewrite-URL', '/admin'],
      ['X-Real-IP', '203.0.113.9'],
      ['X-Client-IP', '203.0.113.9'],
    ]);
    expect(rawHeaders).not.toContain('claimed');
    const told = [...headers].filter(([name]) => /forward|original|rewrite|-ip$/.test(name));
    expect(Object.fromEntries(told)).toEqual({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': gate.listening.host,
      'x-forwarded-proto': 'http',
    });
    const lies: [string, string][] = [
      ['X-Original-URL', '/app/help'],
      ['X-Forwarded-Uri', '/app/help'],
    ];
    expect((await gate.ask('/app', { headers: [script, ...lies] })).status).toBe(401);
  });

  it('the portal’s cookies stay with the portal, and the hub’s own arrive as they are', async () => {
    const cookie = `a=1; ${session}; b="x;y" ; Vestibule-Device=d;  __Host-vestibule-session=h; =vestibule-reset=r; c=3`;
    expect((await hubGot('/app', [], cookie)).headers.get('cookie')).toBe('a=1; b="x;y" ; c=3');
    expect((await hubGot('/app')).headers.has('cookie')).toBe(false);
  });

  it('hop-by-hop headers stay behind, everything else is passed on', async () => {
    const { headers } = await hubGot('/app', [
      ['TE', 'trailers'],
      ['Keep-Alive', 'timeout=5'],
      ['Proxy-Authorization', 'Basic x'],
      ['Proxy-Connection', 'keep-alive'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Authorization', 'Bearer own'],
      ['X-Custom', 'a'],
      ['X-Custom', 'b'],
    ]);
    for (const name of ['te', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'upgrade', 'http2-settings'])
      expect(headers.has(name), name).toBe(false);
    expect(headers.get('connection')).toBe('keep-alive');
    expect(headers.get('host')).toBe(gate.listening.host);
    expect(headers.get('authorization')).toBe('Bearer own');
    expect(headers.get('x-custom')).toBe('a, b');
  });

  it('GT-09 every method passes the same check, with its body', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'GET', 'MKCOL', 'REPORT']) {
      const body = `body of ${method}`;
      const headers: [string, string][] = [['Content-Length', String(body.length)]];
      const answer = await gate.ask('/app/x', { method, body, headers, cookie: session });
      expect([answer.status, JSON.parse(answer.body)], method).toMatchObject([200, { method, body }]);
      expect((await gate.ask('/app/x', { method, body, headers: [...headers, script] })).status, method).toBe(401);
    }
    const head = await gate.ask('/app/x', { method: 'HEAD', cookie: session });
    expect([head.status, head.body, head.headers['content-type']]).toEqual([200, '', 'application/json']);
    expect((await gate.ask('/app/x', { method: 'HEAD', headers: [script] })).status).toBe(401);
    expect((await gate.ask('/app/x', { method: 'TRACE', cookie: session })).status).toBe(404);
  });

  it('another site’s page changes nothing, and on a public path acts as nobody', async () => {
    const evil: [string, string] = ['Origin', 'https://evil.example'];
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      expect((await gate.ask('/app/x', { method, headers: [evil, script], cookie: session })).status).toBe(403);
    expect(gate.hub.received).toEqual([]);
    const open = await gate.ask('/app/help', { method: 'POST', headers: [evil], cookie: session });
    expect(headersOf(JSON.parse(open.body)).has('x-vestibule-user')).toBe(false);
    const ours: [string, string][] = [['Origin', `http://${gate.listening.host}`]];
    expect((await gate.ask('/app/x', { method: 'POST', headers: ours, cookie: session })).status).toBe(200);
  });

  it('GT-10 the hub’s answer arrives as it is, without cookies by the portal’s names', async () => {
    gate.hub.answers['/app/answer'] = (_request, response) => {
      response.writeHead(302, 'Elsewhere', [
        ...['Location', 'https://evil.example/', 'X-Twice', 'one', 'X-Twice', 'two', 'Connection', 'X-Hop', 'X-Hop'],
        'x',
        ...['Set-Cookie', 'own=1; Path=/', 'Set-Cookie', 'vestibule-session=x', 'Set-Cookie', ' \tVESTIBULE-device=x'],
        ...['Set-Cookie', '__Host-vestibule-session=x', 'Set-Cookie', '=vestibule-session=x', 'Set-Cookie', 'other=2'],
      ]);
      response.end('as it is');
    };
    const { status, headers, rawHeaders, body } = await gate.ask('/app/answer', { cookie: session });
    expect([status, headers.location, body]).toEqual([302, 'https://evil.example/', 'as it is']);
    expect(headers['set-cookie']).toEqual(['own=1; Path=/', 'other=2']);
    expect(rawHeaders.filter((_, index) => rawHeaders[index - 1] === 'X-Twice')).toEqual(['one', 'two']);
    for (const name of ['content-security-policy', 'x-frame-options', 'cache-control', 'x-hop'])
      expect(headers[name], name).toBeUndefined();
  });
});

describe('GT-07 public paths', () => {
  it('need no sign-in, and tell who is signed in', async () => {
    expect((await hubGot('/app/help/start?x=1', [], '')).headers.has('x-vestibule-user')).toBe(false);
    expect((await hubGot('/app/help')).headers.get('x-vestibule-user')).toBe('alice');
    for (const path of ['/app/helpers', '/app/hel', '/app?x=/app/help', '/app/x/app/help'])
      expect((await gate.ask(path, { headers: [script] })).status, path).toBe(401);
  });

  it('are so in the very spelling that is passed on', async () => {
    const spelled = ['/app//help', '/app/help;x', '/app/help%2Fx', '/app/h%65lp', '/app/Help', '/app/help./x'];
    for (const odd of ['C%23', 'C%2523', 'a%3Fb', 'a%253fb', 'caf%E9', '%zz']) spelled.push(`/app/help/${odd}`);
    for (const path of [...spelled, '/app/help%20/x', '/app/help%252Fx', '/app/help;/../other', '/app/help/%2e./other'])
      expect([400, 401], path).toContain((await gate.ask(path, { headers: [script] })).status);
    expect(gate.hub.received).toEqual([]);
  });
});

describe('GT-15 without the database', () => {
  let database: DatabaseForTest;
  let wire: CuttableDatabase;
  let other: GateForTest;
  beforeAll(async () => {
    database = await databaseForTest();
    wire = await cuttableDatabase(database);
    other = await gateForTest({ publicPaths: ['/app/help'], more: { sql: wire.sql } });
  });
  afterAll(async () => {
    await other.close();
    await wire.close();
    await database.close();
  });

  it('nobody is let in, and the answer says when to try again', async () => {
    wire.cut();
    for (const path of ['/app', '/app/help']) {
      const answer = await other.ask(path, { cookie: session });
      expect([answer.status, answer.headers['retry-after']], path).toEqual([503, '5']);
    }
    expect(other.hub.received).toEqual([]);
    wire.mend();
    await expect.poll(async () => (await other.ask('/app')).status).toBe(302);
  });
});

it('GT-07 a hub that has every address never gets the portal’s, whatever the method or the spelling', async () => {
  const whole = await gateForTest({ paths: ['/portal/portal.html', '/'] });
  const cookie = await whole.sessionOf('alice');
  const plain =
    '/portal /portal/ /portal/login /portal/nothing /portal/authenticate/saml/acs /healthz /readyz /metrics';
  const spelled =
    '/portal%23 /portal%3f/x /Portal/login /%70ortal/login //portal/login /portal;x/login /portal%2Flogin';
  const known = '/.well-known/change-password';
  for (const path of `${plain} ${spelled} ${known}`.split(' '))
    for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND', 'DELETE']) await whole.ask(path, { method, cookie });
  expect(whole.hub.received).toEqual([]);
  expect((await whole.ask('/portal/login', { method: 'DELETE', cookie })).status).toBe(405);
  expect((await whole.ask('/portals/x', { cookie })).body).toContain('"url":"/portals/x"');
  expect((await whole.ask('/')).headers.location).toBe('/portal/?destination=%2F');
  await whole.close();
});
