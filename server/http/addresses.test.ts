import { beforeAll, describe, expect, it } from 'vitest';
import { type ListeningPortal, listeningPortal } from '#test/support/listening-portal.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

let listening: ListeningPortal;
const portal = portalOfFile();
beforeAll(async () => {
  listening = await listeningPortal(portal);
});

/** Requests a path verbatim; inject would normalize it. */
async function ask(path: string, method = 'GET', fields = ''): Promise<{ status: number | undefined; text: string }> {
  const { statuses, text } = await listening.exchange(
    `${method} ${path} HTTP/1.1\r\nHost: ${listening.host}\r\nConnection: close\r\n${fields}\r\n`,
  );
  return { status: statuses[0], text };
}

describe('hostile addresses', () => {
  it('LM-13 an undecodable address is answered 400, as a page or as a problem, with every header', async () => {
    for (const path of ['/portal/%', '/portal/%E0%A4%A', '/portal/%ff', '/portal/%c0%af', '/%', '/portal/assets/%ff']) {
      const page = await ask(path, 'GET', 'Accept: text/html\r\nAccept-Language: de-AT\r\n');
      expect(page.status, path).toBe(400);
      expect(page.text, path).toContain('<html lang="de">');
      const problem = await ask(path, 'POST', 'Accept: application/json\r\nContent-Length: 0\r\n');
      expect(problem.status, path).toBe(400);
      for (const { text } of [page, problem]) {
        expect(text, path).toMatch(/^content-security-policy: /m);
        expect(text, path).toMatch(/^cache-control: no-store/m);
        expect(text, path).toMatch(/^x-frame-options: DENY/m);
      }
    }
    // An undecodable query is text like any other.
    for (const query of ['?%', '?login=%ff', '?lang=%E0%A4%A', '?%00', `?${'a&'.repeat(5000)}`])
      expect((await ask(`/portal/login${query}`)).status, query.slice(0, 20)).toBe(200);
  });

  it('LM-19 another spelling of an address is the same address with the same guards, or not found', async () => {
    for (const path of [
      '//portal/login',
      '/portal//login',
      '/PORTAL/LOGIN',
      '/portal/Login',
      '/%70ortal/login',
      '/portal/%6cogin',
      '/portal/login;x',
      '/portal/login%2f',
      '/portal/./login',
      '/portal/x/../login',
      '/portal/%2e/login',
      '/portal/login%00',
      '/portal/login%3flang=de',
      '/portal\\login',
      '/portalx/login',
      '/portal/session/x',
      '/portal/assets/../render/render.js',
      '/portal/assets/..%2f..%2frender/render.js',
      '/portal/assets/%2e%2e/render/render.js',
      '/portal/assets/.',
      '/portal/assets/',
      '/portal/assets//x',
      '/portal/assets/.vite/manifest.json',
      '/portal/.vite/manifest.json',
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    const foreign = 'Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n';
    for (const path of ['/portal/performlogin', '/portal/performlogin/', '/portal/%70erformlogin', '/%70ortal/logout'])
      expect([path, (await ask(path, 'POST', foreign)).status]).toEqual([path, 403]);
    for (const path of ['/portal/session', '/portal/session/', '/portal/sessio%6e', '/portal/session?x'])
      expect([path, (await ask(path)).status]).toEqual([path, 401]);
  });

  it('IN-10 OR-23 a redirect is one line and stays on this origin, whatever the address was', async () => {
    for (const query of [
      '?ipaddress=1.2.3.4%0d%0aSet-Cookie:x=y',
      '?a=%0aX:y',
      '?//evil.example',
      '?redirectURL=https://evil.example',
    ]) {
      const { status, text } = await ask(`/portal/loginfailIP${query}`);
      expect(status).toBe(302);
      const [head = ''] = text.split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^location: /portal/loginfail/ip${query.replace(/[?.]/g, '\\$&')}\\r?$`, 'm'));
      expect(head).not.toMatch(/^set-cookie/im);
      expect(head).not.toMatch(/^x:/im);
    }
    const hub = await ask('/portal/portal.html?x=%0d%0aSet-Cookie:x=y&//evil.example');
    expect(/^location: (.*)$/m.exec(hub.text)?.[1]).toMatch(
      /^\/portal\/\?destination=%2Fportal%2Fportal\.html%3F[\w%.-]+$/,
    );
    expect(/^location: (.*)$/m.exec((await ask('/?//evil.example')).text)?.[1]).toBe('/portal/');
  });

  it('LM-13 a log line is one line of plain ASCII, truncated, whatever the address was', async () => {
    await ask(`/portal/%0a%1b[2J${'x'.repeat(2000)}`);
    await ask('/portal/%E2%80%A8');
    for (const line of portal.logs().trim().split('\n')) {
      expect(() => JSON.parse(line)).not.toThrow();
      expect(line.length).toBeLessThan(1000);
      expect(line).toMatch(/^[ -~]+$/);
    }
  });
});
