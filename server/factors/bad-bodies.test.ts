import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  triesCounted,
  verdict,
  verify,
  verifyByForm,
  verifyUrl,
} from '#test/support/two-factor-for-test.ts';

let cookies: Browser;
let code: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  code = codeNow(portal, await giveApp(portal, 'alice'));
  cookies = await halfSession(portal, 'alice');
});

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

describe('what is posted as a code', () => {
  it('LM-15 is one string of JSON: invalid, nested or doubled JSON, or invalid UTF-8, is refused, uncounted', async () => {
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
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
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
    // Whatever follows the type: the body is read as this type or not at all, and validated against its schema.
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
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(portal.logs()).not.toContain('unexpected error');
    expect(verdict(await post(JSON.stringify(code), { 'content-type': 'application/json; charset=utf-8' }))).toBe(true);
  });

  it('SE-06 an empty post is refused, uncounted', async () => {
    const { host, cookie, origin } = {
      host: portal.deps.config.hosts[0] ?? '',
      origin: portal.deps.config.destinationRules.origin,
      cookie: `vestibule-session=${cookies['vestibule-session']}`,
    };
    for (const accept of ['application/json', 'text/html']) {
      const headers = { host, cookie, origin, accept };
      expect((await portal.app.inject({ method: 'POST', url: verifyUrl, headers })).statusCode).toBe(400);
      const empty = { ...headers, 'content-length': '0' };
      expect((await portal.app.inject({ method: 'POST', url: verifyUrl, headers: empty })).statusCode).toBe(400);
    }
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
  });

  it('SE-06 LM-11 a form without a code, with two, or with too many is refused, uncounted', async () => {
    for (const body of ['', 'x=y', `code=${code}&code=${code}`, `code[]=${code}`, `code=${code}&x=%00`, `code=%ff`])
      expect((await post(body, { 'content-type': 'application/x-www-form-urlencoded' })).statusCode, body).toBe(400);
    expect((await verifyByForm(portal, { code: '1'.repeat(41) }, cookies)).statusCode).toBe(400);
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(await signedInAs(portal, cookies)).toBeNull();
  });
});

describe('MF-05 what is no code', () => {
  it('MF-05 spaces, signs and other digits around a right code are refused, uncounted; the code still works', async () => {
    const [front, back] = [code.slice(0, 3), code.slice(3)];
    const fullWidth = [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('');
    const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
    const texts = [
      ...[` ${code}`, `${code} `, `${front} ${back}`, `${front}-${back}`, `\t${code}`, `${code}\n`, `\u00a0${code}`],
      ...[`+${code}`, `-${code}`, `0${code}`, `${code}0`, code.slice(0, 5), '', ' ', `${code}\0`, `\u200b${code}`],
      ...[fullWidth, arabic, `${code},${code}`, `0x${code}`, `${code}.0`, `${code}e0`, '1e5000', 'true', 'null'],
    ];
    for (const text of texts) expect([text, verdict(await verify(portal, text, cookies))]).toEqual([text, [400, null]]);
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('MF-05 LM-15 anything but one string is refused, uncounted', async () => {
    const number = Number(code);
    for (const value of [number, [code], [[code]], { code }, { 0: code }, true, null, [number], { toString: code }])
      expect([value, verdict(await verify(portal, value, cookies))]).toEqual([value, [400, null]]);
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });
});

it('MF-21 verify and send accept only POST', async () => {
  for (const url of [verifyUrl, '/portal/two-factor-authentication/send'])
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      const answer = await portal.send({ method, url: `${url}?code=${code}`, cookies });
      expect([url, method, answer.statusCode, answer.headers.allow]).toEqual([url, method, 405, 'POST']);
    }
  expect(await triesCounted(portal)).toEqual([0, 0, 0]);
});
