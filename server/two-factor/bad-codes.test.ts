import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type PortalForTest, portalForTest } from '#server/testing/portal-for-test.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  signedInAs,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
  verifyUrl,
} from '#server/testing/two-factor-for-test.ts';

let portal: PortalForTest;
let cookies: Browser;
let code: string;
beforeAll(async () => {
  portal = await portalForTest();
});
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  code = codeNow(portal, await giveApp(portal, 'alice'));
  cookies = await halfSession(portal, 'alice');
});
afterAll(() => portal.close());

/** How many tries were counted: in half sessions, for accounts, and as events. */
async function counted(): Promise<unknown> {
  const [row] = await portal.sql`
    select (select coalesce(sum(code_tries), 0)::int from session) as tries,
      (select coalesce(sum(failures), 0)::int from throttle where key like 'code:%') as failures,
      (select count(*)::int from audit_event where event = 'code-refused') as refused`;
  return Object.values(row ?? {});
}

async function post(body: string | Buffer, headers: Record<string, string> = {}) {
  return await portal.app.inject({
    method: 'POST',
    url: verifyUrl,
    payload: body,
    remoteAddress: '198.51.100.7',
    headers: {
      host: portal.deps.config.hosts[0] ?? '',
      origin: portal.deps.config.destinationRules.origin,
      'sec-fetch-site': 'same-origin',
      accept: 'application/json',
      'content-type': 'application/json',
      cookie: Object.entries(cookies)
        .map((pair) => pair.join('='))
        .join('; '),
      ...headers,
    },
  });
}

describe('MF-05 what is no code', () => {
  it('MF-05 spaces, signs and other digits around a right code are refused, uncounted; the code is good afterwards', async () => {
    const [front, back] = [code.slice(0, 3), code.slice(3)];
    const fullWidth = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
    const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
    const texts = [
      ...[` ${code}`, `${code} `, `${front} ${back}`, `${front}-${back}`, `\t${code}`, `${code}\n`, `\u00a0${code}`],
      ...[`+${code}`, `-${code}`, `0${code}`, `${code}0`, code.slice(0, 5), '', ' ', `${code}\0`, `\u200b${code}`],
      ...[fullWidth, arabic, `${code},${code}`, `0x${code}`, `${code}.0`, `${code}e0`, '1e5000', 'true', 'null'],
    ];
    for (const text of texts) expect([text, verdict(await verify(portal, text, cookies))]).toEqual([text, [400, null]]);
    expect(await counted()).toEqual([0, 0, 0]);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('MF-05 LM-15 anything but one string is refused, uncounted', async () => {
    const number = Number(code);
    for (const value of [number, [code], [[code]], { code }, { 0: code }, true, null, [number], { toString: code }])
      expect([value, verdict(await verify(portal, value, cookies))]).toEqual([value, [400, null]]);
    expect(await counted()).toEqual([0, 0, 0]);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('LM-15 neither is what is no JSON, deep, doubled, or not UTF-8', async () => {
    const deep = '['.repeat(10_000) + ']'.repeat(5000);
    const bodies = [
      ...['', ' ', '"', `"${code}`, `'${code}'`, code.replace(/^0*/, ''), '1e400', 'NaN', 'undefined', `"${code}""`],
      ...[`"${code}" "${code}"`, `"${code}",`, `//\n"${code}"`, '{"__proto__":1}', deep, `"\ud800"`, '"\\ud800"'],
      ...[`["${code}","${code}"]`, `{"code":"${code}","code":"${code}"}`, `"${' '.repeat(200)}${code}"`],
      ...[Buffer.from([0x22, 0xff, 0x22]), Buffer.from(`\ufeff"${code}"`, 'utf16le'), Buffer.from([0])],
    ];
    for (const body of bodies) {
      const answer = await post(body);
      expect([body, answer.statusCode]).toEqual([body, 400]);
      expect(answer.json()).toMatchObject({ type: 'about:blank', status: 400 });
      expect(answer.body).not.toContain(code);
    }
    expect((await post(`"${'1'.repeat(1024 * 1024)}"`)).statusCode).toBe(413);
    expect(await counted()).toEqual([0, 0, 0]);
    expect(verdict(await post(`\t"${code}"\r\n`))).toBe(true);
  });

  it('CS-13 a type that is neither JSON nor a form is not read, however it is written', async () => {
    const types = [
      ...['text/plain', 'text/json', 'application/jsonx', 'application/json5', 'application/problem+json', 'x', '*/*'],
      ...['multipart/form-data; boundary=x', 'application/xml', 'application/octet-stream', ';', '/', ' '],
      ...['text/plain;application/json', 'text/plain, application/json', 'application/json/x'],
    ];
    for (const type of types)
      for (const body of [JSON.stringify(code), `code=${code}`])
        expect([type, (await post(body, { 'content-type': type })).statusCode]).toEqual([type, 415]);
    // Whatever follows the type: it is read as this type or not at all, and what is read is held against its schema.
    for (const tail of [';x', ';', ' ;x', '\t', '\t;x', '\tx', ' x', ', text/plain', '; charset="', ';charset=utf-16'])
      for (const type of ['application/json', 'Application/JSON', 'application/x-www-form-urlencoded'])
        for (const body of ['{}', '5', '["x"]', 'x=y', '"x"', 'code', '']) {
          const { statusCode } = await post(body, { 'content-type': type + tail });
          expect([type + tail, body, statusCode < 500 && statusCode >= 303]).toEqual([type + tail, body, true]);
        }
    for (const encoding of ['gzip', 'br', 'identity'])
      expect(
        (
          await post(`code=${code}`, {
            'content-type': 'application/x-www-form-urlencoded',
            'content-encoding': encoding,
          })
        ).statusCode,
      ).toBe(415);
    expect(await counted()).toEqual([0, 0, 0]);
    expect(portal.logs()).not.toContain('unexpected error');
    expect(verdict(await post(JSON.stringify(code), { 'content-type': 'application/json; charset=utf-8' }))).toBe(true);
  });

  it('SE-06 LM-11 a form without a code, with two, or with a heap of them is refused, uncounted', async () => {
    for (const body of ['', 'x=y', `code=${code}&code=${code}`, `code[]=${code}`, `code=${code}&x=%00`, `code=%ff`])
      expect((await post(body, { 'content-type': 'application/x-www-form-urlencoded' })).statusCode, body).toBe(400);
    expect((await verifyByForm(portal, { code: '1'.repeat(41) }, cookies)).statusCode).toBe(400);
    expect(await counted()).toEqual([0, 0, 0]);
    expect(await signedInAs(portal, cookies)).toBeNull();
  });
});

it('MF-21 verify and send take a POST alone', async () => {
  for (const url of [verifyUrl, '/portal/two-factor-authentication/send'])
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const answer = await portal.send({ method, url: `${url}?code=${code}`, cookies });
      expect([url, method, answer.statusCode, answer.headers.allow]).toEqual([url, method, 405, 'POST']);
    }
  expect(await counted()).toEqual([0, 0, 0]);
});
