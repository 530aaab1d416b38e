import { beforeEach, describe, expect, it } from 'vitest';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  type Browser,
  codeNow,
  giveApp,
  halfSession,
  startTwoFactorAfresh,
  triesCounted,
  verdict,
  verify,
  verifyUrl,
} from '#testing/two-factor-for-test.ts';

let cookies: Browser;
let code: string;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  code = codeNow(portal, await giveApp(portal, 'alice'));
  cookies = await halfSession(portal, 'alice');
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
