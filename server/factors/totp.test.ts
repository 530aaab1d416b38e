import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeOfStep } from '#test/support/authenticator-app.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { newTotpSecret, offsetOf, totpStep, totpUri } from './totp.ts';

/** Made by oathtool (test/support/make-totp-vectors.ts): secret, first second of a step, the codes from that step on. */
const vectors = readFileSync(new URL('../../test/support/totp-vectors.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [secret = '', time, codes = ''] = line.split(' ');
    return { secret, firstStep: Number(time) / 30, codes: codes.match(/\d{6}/g) ?? [] };
  });

/** The first and the last millisecond of a step. */
const edges = (step: number) => [new Date(step * 30_000), new Date(step * 30_000 + 29_999)];

describe('codes of an app', () => {
  it('agree with oathtool on ten thousand steps', () => {
    let looks = 0;
    for (const { secret, firstStep, codes } of vectors)
      for (const [at, code] of codes.entries()) {
        const step = firstStep + at;
        expect(totpStep(secret, code, edges(step)[looks % 2] as Date), `${secret} ${step}`).toBe(step);
        expect(codeOfStep(secret, step)).toBe(code);
        looks += 1;
      }
    expect(looks).toBe(10_000);
  });

  it('are valid in their own step and one either side, to the millisecond', () => {
    for (const { secret, firstStep, codes } of vectors.slice(0, 20)) {
      const [code = '', step] = [codes[50], firstStep + 50];
      const isGoodAt = (other: number) => edges(other).map((time) => totpStep(secret, code, time) === step);
      for (const near of [step - 1, step, step + 1]) expect(isGoodAt(near), `${near - step}`).toEqual([true, true]);
      for (const far of [step - 21, step - 3, step - 2, step + 2, step + 3, step + 21])
        expect(isGoodAt(far), `${far - step}`).toEqual([false, false]);
    }
  });

  it('agree with RFC 6238, appendix B', () =>
    eachRow(
      [
        [59, '94287082'],
        [1111111109, '07081804'],
        [1111111111, '14050471'],
        [1234567890, '89005924'],
        [2000000000, '69279037'],
        [20000000000, '65353130'],
      ],
      ([seconds, eightDigits]) => {
        const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
        const step = Math.floor(seconds / 30);
        expect(totpStep(secret, eightDigits.slice(-6), new Date(seconds * 1000))).toBe(step);
      },
    ));

  it('are invalid if a digit differs, including a leading zero', () => {
    const { secret, firstStep, codes } = vectors.find(({ codes }) => codes[0]?.startsWith('0')) ?? { codes: [] };
    const code = codes[0] ?? '';
    expect(code).toMatch(/^0\d{5}$/);
    const [time = new Date(0)] = edges(firstStep ?? 0);
    expect(totpStep(secret ?? '', code, time)).toBe(firstStep);
    for (const other of [`1${code.slice(1)}`, code.slice(0, 5) + ((Number(code[5]) + 1) % 10)])
      expect(totpStep(secret ?? '', other, time)).toBeNull();
  });
});

describe('the clock of a phone', () => {
  const { secret, firstStep, codes } = vectors[0] as (typeof vectors)[number];
  const now = new Date((firstStep + 50) * 30_000 + 12_345);
  const offset = (steps: number) => offsetOf(secret, codes[50 + steps] ?? '', now);

  it('is off by what its code says, up to ten minutes, ahead or behind', () => {
    for (const steps of [2, 3, 7, 19, 20]) expect([offset(steps), offset(-steps)]).toEqual([steps * 30, -steps * 30]);
    for (const steps of [0, 1, 21, 22]) expect([offset(steps), offset(-steps)]).toEqual([null, null]);
  });
});

describe('a secret', () => {
  it('MF-18 has 160 random bits', () => {
    const secrets = Array.from({ length: 1000 }, newTotpSecret);
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).toBe(secrets.length);
    for (let at = 0; at < 32; at += 1) {
      // The probability that one of 32 letters is missing is below one in a billion.
      const letters = new Set(secrets.map((secret) => secret[at]));
      expect(letters.size, `at ${at}`).toBe(32);
    }
  });

  it('MF-18 IN-15 is given to an app with issuer and account, each as a whole', () =>
    eachRow(
      [
        ['Vestibule', 'alice'],
        ['R&D: Häuser?', 'a&b=c#d'],
        ['a:b', 'c:d'],
        ['100% <b>"x"</b>', 'alice+x@corp.example'],
        ['Ünïcødé\u2028名', '😀'],
        ['/../?secret=AAAA&issuer=x', '/../?secret=AAAA&period=1'],
        ['line\nbreak', 'tab\tand%00'],
      ],
      ([issuer, account]) => {
        const uri = totpUri('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', issuer, account);
        expect(uri).toMatch(/^otpauth:\/\/totp\/[^/?#:\s]+:[^/?#:\s]+\?[^?#\s]+$/);
        const { pathname, searchParams } = new URL(uri);
        const plain = (text: string) => text.replaceAll(':', ' ');
        // The format separates issuer and account at the first colon, escaped or not.
        expect(decodeURIComponent(pathname.slice(1))).toBe(`${plain(issuer)}:${plain(account)}`);
        expect(Object.fromEntries(searchParams)).toEqual({
          secret: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
          issuer: plain(issuer),
        });
      },
    ));
});
