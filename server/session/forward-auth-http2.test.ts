import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#testing/accounts-for-test.ts';
import { type PortalBehindProxy, portalBehindProxy } from '#testing/portal-behind-proxy.ts';

// Of the three proxies, HAProxy alone passes WebSockets on from HTTP/2 (RFC 8441).
describe('behind HAProxy with TLS and HTTP/2', () => {
  let behind: PortalBehindProxy;
  let cookie: string;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    behind = await portalBehindProxy('haproxy', { rules: 'customer=acme', tls: 'alpn h2' });
    await addAttackFixtures(behind.portal);
    cookie = await behind.sessionOf('bob');
    const ca = readFileSync(new URL('../../testing/test-only-authority.pem', import.meta.url));
    session = connect(`https://localhost:${behind.port}`, { ca });
    await once(session, 'remoteSettings');
  }, 180_000);
  afterAll(async () => {
    session?.destroy();
    await behind.close();
  });

  async function statusOf(headers: OutgoingHttpHeaders): Promise<number> {
    const stream = session.request({ cookie, ...headers }, { endStream: false });
    const [answer] = (await once(stream, 'response')) as [{ ':status': number }];
    stream.close();
    return answer[':status'];
  }

  const handshake = (path: string) => ({
    ...{ ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https', ':path': path },
    ...{ ':authority': `localhost:${behind.port}`, 'sec-websocket-version': '13' },
  });

  it('the bind line counts as a whole: visitors arrive by TLS', () => {
    expect([session.encrypted, session.alpnProtocol]).toEqual([true, 'h2']);
  });

  it('GT-09 a WebSocket, which has no key there, is refused to a page of another origin', async () => {
    const [own] = behind.portal.deps.config.origins;
    expect(await statusOf({ ...handshake('/socket'), origin: own })).toBe(200);
    expect(await statusOf({ ...handshake('/socket'), origin: own, cookie: '' })).toBe(401);
    for (const more of [{}, { 'sec-fetch-mode': 'cors' }, { 'sec-fetch-mode': 'websocket' }])
      expect(await statusOf({ ...handshake('/socket'), ...more, origin: 'https://blog.example.com' })).toBe(403);
  });

  it('GT-03 GT-12 no tunnel by CONNECT, and none in another protocol', async () => {
    const connecting = { ':method': 'CONNECT', ':authority': `localhost:${behind.port}` };
    expect(await behind.withNaiveHub('\r\n\r\n', () => statusOf(connecting))).toEqual({ answer: 405, heads: [] });
    const other = { ...handshake('/app'), ':protocol': 'h2c' };
    const { heads } = await behind.withNaiveHub('\r\n\r\n', () => statusOf(other));
    const about = heads.flat().filter((line) => /^(?:GET|upgrade:|connection:)/i.test(line));
    expect(about).toEqual(['GET /app HTTP/1.1', 'connection: close']);
  });
});
