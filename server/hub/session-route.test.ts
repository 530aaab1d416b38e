import { beforeEach, describe, expect, it } from 'vitest';
import { addAttackFixtures, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { listAuditEvents, listAuditEventsByRequest } from '../audit/audit-event.ts';
import { requestIdStart } from '../audit/reference.ts';
import { parseNetworkList } from '../names/network.ts';

// As Caddy and Traefik ask: they name the page in a header.
const trustedProxies = parseNetworkList(['198.51.100.7']).networks;
const portal = portalOfFile({ config: { trustedProxies }, once: addAttackFixtures });

let cookies: Record<string, string>;
beforeEach(async () => {
  const { 'vestibule-session': session = '' } = cookiesOf(await portal.signIn('alice', testPassword, proxied));
  cookies = { 'vestibule-session': session };
});

// As Azure's gateways write it.
const proxied = { headers: { 'x-forwarded-for': '203.0.113.5:51234' } };

const ask = (what: string, page: string, more: Partial<TestRequest> = {}) =>
  portal.send({
    url: `/portal/session?${what}`,
    ...more,
    headers: { ...proxied.headers, 'x-forwarded-uri': page, ...more.headers },
  });

describe('a proxy that names the page', () => {
  it('GT-13 leads a person to sign in, and from there to the page', async () => {
    const answer = await ask('', '/app/a%20b?x=1&y=%2F2');
    expect([answer.statusCode, answer.headers.location]).toEqual([
      302,
      '/portal/?destination=%2Fapp%2Fa%2520b%3Fx%3D1%26y%3D%252F2',
    ]);
    expect((await ask('', '/app', { headers: { 'x-forwarded-method': 'POST' } })).statusCode).toBe(401);
    expect((await ask('', '//evil.example/')).headers.location).not.toContain('evil');
    const stranger = await ask('', '/app', { from: '203.0.113.9' });
    expect([stranger.statusCode, stranger.json().detail]).toEqual([401, expect.stringContaining('trustedProxies')]);
    expect(portal.logs()).not.toContain('is your reverse proxy');
  });

  it('and is not trusted is logged and recorded once, with the line to add', async () => {
    for (const from of ['10.0.0.9', '10.0.0.8']) expect((await ask('', '/app', { from })).statusCode).toBe(401);
    const told = portal
      .logs()
      .split('\n')
      .filter((line) => line.includes('is your reverse proxy'));
    expect(told).toEqual([expect.stringContaining('add \\"10.0.0.9\\" to \\"trustedProxies\\"')]);
    const events = await listAuditEvents(portal.sql, { event: 'proxy-not-trusted', limit: 9 });
    expect(events.map(({ address }) => address)).toEqual(['10.0.0.9']);
  });

  it('and says nothing usable of the client is named on the page', async () => {
    for (const address of ['unknown', '', 'client:80']) {
      const { statusCode, body } = await ask('', '/app', {
        headers: { 'x-forwarded-for': address, accept: 'text/html' },
      });
      expect([statusCode, body]).toEqual([400, expect.stringMatching(/proxy 198\.51\.100\.7 did not say where/)]);
    }
  });

  it('GT-07 the visitor’s own query and path change nothing of the rule', async () => {
    expect((await ask('customer=acme', '/app?customer=fenced', { cookies })).statusCode).toBe(200);
    for (const page of ['/app', '/app?customer=acme']) {
      const answer = await ask('customer=fenced', page, { cookies });
      expect([page, answer.statusCode]).toEqual([page, 403]);
      expect(answer.body).toContain('<html');
    }
    for (const what of ['customer=', 'costumer=acme', 'customer=ACME', 'audience=none'])
      expect([what, (await ask(what, '/app', { cookies })).statusCode]).toEqual([what, 400]);
  });

  it('asks for groups, each within its customer, besides or instead of customers', async () => {
    await addUser(portal, {
      username: 'gina',
      name: 'Ng, Gina',
      customers: ['acme', 'fenced'],
      groups: ['acme:a, b', 'fenced:hr'],
    });
    const signedIn = await portal.signIn('gina', testPassword, { headers: { 'x-forwarded-for': '203.0.113.5' } });
    const own = { 'vestibule-session': cookiesOf(signedIn)['vestibule-session'] ?? '' };
    const statusOf = async (what: string) => (await ask(what, '/app', { cookies: own })).statusCode;
    const passes = 'group=fenced:hr group=acme:x,acme:a,%20b customer=acme&group=acme:a,%20b group=x:y&group=fenced:hr';
    for (const what of passes.split(' ')) expect([what, await statusOf(what)]).toEqual([what, 200]);
    const others = 'group=acme:hr group=acme:a customer=acme&group=fenced:hr customer=beta&group=fenced:hr';
    for (const what of others.split(' ')) expect([what, await statusOf(what)]).toEqual([what, 403]);
    for (const what of ['group=', 'group=hr', 'group=acme:', 'groups=acme:hr'])
      expect([what, await statusOf(what)]).toEqual([what, 400]);
    const answer = await portal.send({ url: '/portal/session', cookies: own, from: '198.51.100.9' });
    expect(answer.json()).toMatchObject({ name: 'Ng, Gina', customers: ['acme'], groups: ['acme:a, b'] });
    const { body } = await portal.send({ url: '/portal/portal.html', cookies: own, from: '198.51.100.9' });
    expect(body).toMatch(/Welcome, Ng, Gina\..*acme:a, b/s);
  });

  it('who is kept out is recorded once a minute for each rule, and the page’s reference finds it', async () => {
    portal.wait(60_000);
    await portal.sql`delete from audit_event`;
    // nginx asks twice: first without the page, whose reference nobody sees.
    await portal.send({ ...proxied, url: '/portal/session?customer=fenced', cookies });
    const shown: string[] = [];
    for (const page of ['/app/x?secret=Canary', '/app/y'])
      for (const rule of ['fenced', 'fenced,other', 'other,fenced', 'fenced&group=acme:hr']) {
        const { body } = await ask(`customer=${rule}`, page, { cookies });
        shown.push(/\b[0-9A-F]{4}-[0-9A-F]{4}(?=<\/code>)/.exec(body)?.[0] ?? '');
      }
    const events = await listAuditEvents(portal.sql, { event: 'access-refused', limit: 9 });
    expect(
      events.map(({ username, address, steps }) => [username, address, ...steps.map(({ outcome }) => outcome)]),
    ).toEqual([
      ['alice', '203.0.113.5', '/app/x', 'fenced', 'acme:hr', 'none'],
      ['alice', '203.0.113.5', '/app/x', 'fenced, other', 'none'],
      ['alice', '203.0.113.5', '/app/x', 'fenced', 'none'],
      ['alice', '203.0.113.5', 'not told by the proxy', 'fenced', 'none'],
    ]);
    const found = async (reference: string) =>
      await listAuditEventsByRequest(portal.sql, requestIdStart(reference) ?? '');
    expect(await Promise.all(shown.map(found))).toEqual([2, 1, 1, 0, 2, 1, 1, 0].map((at) => [events[at]]));
  });

  it('GT-09 a WebSocket that it names by Upgrade alone is refused to a page of another origin', async () => {
    const from = async (origin: string, upgrade = 'websocket') =>
      (await ask('', '/socket', { cookies, headers: { origin, upgrade } })).statusCode;
    const [own = ''] = portal.deps.config.origins;
    expect([await from(own), await from('https://blog.example.com', 'h2c')]).toEqual([200, 200]);
    for (const upgrade of ['websocket', 'WebSocket', 'h2c, websocket'])
      expect(await from('https://blog.example.com', upgrade)).toBe(403);
  });
});
