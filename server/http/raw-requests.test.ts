import { beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { type ListeningPortal, listeningPortal, type RawAnswer } from '#test/support/listening-portal.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

let listening: ListeningPortal;
let host: string;
const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  listening = await listeningPortal(portal);
  host = `Host: ${listening.host}\r\n`;
});

const form = 'username=bob&password=wrong';
const get = (path: string, fields = host, version = 'HTTP/1.1') => `GET ${path} ${version}\r\n${fields}\r\n`;
const post = (fields: string, body = form) =>
  `POST /portal/performlogin HTTP/1.1\r\n${host}Content-Type: application/x-www-form-urlencoded\r\n${fields}\r\n${body}`;
/** What an attacker hides behind a first request; it must never be answered. */
const hidden = () => get('/healthz');

/** The one answer to anything unreadable: short, with every header, and the connection closed. */
function expectRefused(answer: RawAnswer, status: number, what: string): void {
  expect(answer.statuses, what).toEqual([status]);
  expect(answer.closed, what).toBe(true);
  expect(answer.text, what).toMatch(/^content-security-policy: default-src 'none'/im);
  expect(answer.text, what).toMatch(/^cache-control: no-store/im);
  expect(answer.text, what).toMatch(/^connection: close/im);
  expect(answer.text.length, what).toBeLessThan(1500);
}

async function expectAllRefused(cases: Record<string, string>, status: number): Promise<void> {
  await Promise.all(
    Object.entries(cases).map(async ([what, bytes]) => expectRefused(await listening.exchange(bytes), status, what)),
  );
}

describe('what only a socket can send', () => {
  it('LM-01 an oversized header section is answered 431 and closed, many small headers by the guard', async () => {
    const cookies = get('/portal/session', `${host}Accept-Language: de-AT\r\nCookie: ${'a=b; '.repeat(3400)}\r\n`);
    for (const sent of [cookies, get(`/portal/${'a'.repeat(17_000)}`)]) {
      const { statuses, closed, text } = await listening.exchange(sent);
      expect([statuses, closed]).toEqual([[431], true]);
      expect(text).toMatch(
        /^content-security-policy: default-src 'none'.*^cache-control: no-store.*^content-type: text\/html/ims,
      );
      expect(text).toContain(sent === cookies ? '<html lang="de">' : 'Clear the cookies of this site');
    }
    const many = await listening.exchange(get('/portal/login', host + 'X: a\r\n'.repeat(200)), 300);
    expect(many.statuses).toEqual([431]);
    expect((await listening.exchange(get(`/portal/${'a'.repeat(15_000)}`), 300)).statuses).toEqual([404]);
  });

  it('LM-02 an oversized body is answered 413 before it is read, with or without its length', async () => {
    await expectAllRefused(
      {
        '2 MB': post('Content-Length: 2000000\r\n', 'a'.repeat(2_000_000)),
        chunked: post('Transfer-Encoding: chunked\r\n', `3000\r\n${'a'.repeat(0x3000)}\r\n`.repeat(2)),
        'chunk extension of 1 MB': post('Transfer-Encoding: chunked\r\n', `1;${'a'.repeat(1_000_000)}\r\na\r\n`),
      },
      413,
    );
  });

  it('LM-03 a wrong, negative, signed or repeated length is refused', async () => {
    await expectAllRefused(
      {
        'shorter than the body': post('Content-Length: 5\r\n'),
        negative: post('Content-Length: -1\r\n'),
        signed: post(`Content-Length: +${form.length}\r\n`),
        'a list': post('Content-Length: 5, 5\r\n'),
      },
      400,
    );
  });

  it('LM-04 every way to hide a second request behind the first is refused, and the second never answered', async () => {
    const end = '0\r\n\r\n';
    await expectAllRefused(
      {
        'length and chunked': post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', end + hidden()),
        xchunked: post('Transfer-Encoding: xchunked\r\n', end + hidden()),
        twice: post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', end + hidden()),
        'space before the colon': post('Transfer-Encoding : chunked\r\n', end + hidden()),
        'folded line': post('X: y\r\n Transfer-Encoding: chunked\r\n', end + hidden()),
        'chunked, then identity': post('Transfer-Encoding: chunked, identity\r\n', end + hidden()),
        'gzip, then chunked': post('Transfer-Encoding: gzip, chunked\r\n', end + hidden()),
        'bare LF after the line': `GET /portal/login HTTP/1.1\n${host}\r\n${hidden()}`,
        'bare LF after a header': `GET /portal/login HTTP/1.1\r\nHost: ${listening.host}\nX: y\r\n\r\n${hidden()}`,
        'bare LF in chunks': post('Transfer-Encoding: chunked\r\n', `0\n\n${hidden()}`),
        'bare CR': `GET /portal/login HTTP/1.1\r\nHost: ${listening.host}\rX: y\r\n\r\n${hidden()}`,
        'NUL in a header': get('/portal/login', `${host}X: a\0b\r\n`) + hidden(),
        'NUL in the path': get('/portal/\0') + hidden(),
        'a space in the path': get('/portal/ login') + hidden(),
        'raw bytes in the path': get('/portal/\xff\x9b') + hidden(),
      },
      400,
    );
  });

  it('LM-16 old, foreign and whole-URL requests get a clear answer', async () => {
    await expectAllRefused(
      {
        'HTTP/0.9': 'GET /portal/login\r\n\r\n',
        'HTTP/2 with prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'another version': get('/portal/login', host, 'HTTP/2.0'),
        'a whole URL': get(`http://${listening.host}/portal/login`) + hidden(),
        'a foreign URL': get('http://evil.example/portal/password/forgotten') + hidden(),
        asterisk: `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
        'a method that nobody knows': `FOO /portal/login HTTP/1.1\r\n${host}\r\n${hidden()}`,
      },
      400,
    );
    const tunnel = await listening.exchange(`CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n${hidden()}`);
    expect(tunnel).toMatchObject({ statuses: [], closed: true });
    expect((await listening.exchange(post('Content-Length: 27\r\nExpect: tea\r\n'), 300)).statuses).toEqual([417]);
    const asked = await listening.exchange(
      post(`Content-Length: ${form.length}\r\nExpect: 100-continue\r\nConnection: close\r\n`),
    );
    expect(asked.statuses).toEqual([100, 303]);
    const upgrade = get('/portal/login', `${host}Connection: Upgrade\r\nUpgrade: websocket\r\n`);
    expect((await listening.exchange(upgrade, 300)).statuses).toEqual([200]);
    const old = await listening.exchange(get('/portal/login', host, 'HTTP/1.0'));
    expect(old).toMatchObject({ statuses: [200], closed: true });
  });

  it('LM-17 IP-19 no Host, two and an empty one are refused; a probe over HTTP/1.0 needs none', async () => {
    const two = `${host}Host: evil.example\r\n`;
    await expectAllRefused(
      {
        none: get('/portal/login', '') + hidden(),
        two: get('/portal/login', two) + hidden(),
        'two for a probe': get('/healthz', two) + hidden(),
        'none, HTTP/1.0': get('/portal/login', '', 'HTTP/1.0'),
      },
      400,
    );
    expect((await listening.exchange(get('/portal/login', 'Host:\r\n'), 300)).statuses).toEqual([421]);
    expect((await listening.exchange(get('/healthz', '', 'HTTP/1.0'))).statuses).toEqual([200]);
  });
});

/** Requests a path verbatim; inject would normalize it. */
async function ask(path: string, method = 'GET', fields = ''): Promise<{ status: number | undefined; text: string }> {
  const { statuses, text } = await listening.exchange(
    `${method} ${path} HTTP/1.1\r\nHost: ${listening.host}\r\nConnection: close\r\n${fields}\r\n`,
  );
  return { status: statuses[0], text };
}

describe('hostile addresses', () => {
  it('LM-13 an undecodable address is taken literally: not found, as a page or as a problem, with every header', async () => {
    for (const path of ['/portal/%', '/portal/%E0%A4%A', '/portal/%c0%af', '/%', '/portal/assets/%ff']) {
      const page = await ask(path, 'GET', 'Accept: text/html\r\nAccept-Language: de-AT\r\n');
      expect(page.status, path).toBe(404);
      expect(page.text, path).toContain('<html lang="de">');
      const problem = await ask(path, 'POST', 'Accept: application/json\r\nContent-Length: 0\r\n');
      expect(problem.status, path).toBe(404);
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
      '/portal/%6cogin',
      '/portal/login;x',
      '/portal/login%2f',
      '/portal/./login',
      '/portal/login%00',
      '/portal/login%3flang=de',
      '/portal\\login',
      '/portal/session/x',
      '/portal/assets/../render/render.js',
      '/portal/assets/..%2f..%2frender/render.js',
      '/portal/.vite/manifest.json',
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    const foreign = 'Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n';
    for (const path of ['/portal/performlogin', '/portal/performlogin/', '/portal/%70erformlogin', '/%70ortal/logout'])
      expect([path, (await ask(path, 'POST', foreign)).status]).toEqual([path, 403]);
    for (const path of ['/portal/session', '/portal/session/', '/portal/sessio%6e', '/portal/session?x'])
      expect([path, (await ask(path)).status]).toEqual([path, 401]);
  });
});
