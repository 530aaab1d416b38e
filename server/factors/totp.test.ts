import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeOfStep } from '#test/support/authenticator-app.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { totpStep, totpUri } from './totp.ts';

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
      for (const far of [step - 21, step - 2, step + 2, step + 21])
        expect(isGoodAt(far), `${far - step}`).toEqual([false, false]);
    }
  });
});

describe('a secret', () => {
  it('MF-18 IN-15 is given to an app with issuer and account, each as a whole', () =>
    eachRow(
      [
        ['R&D: Häuser?', 'a&b=c#d'],
        ['100% <b>"x"</b>', 'alice+x@corp.example'],
        ['Ünïcødé\u2028名', '😀'],
        ['/../?secret=AAAA&issuer=x', '/../?secret=AAAA&period=1'],
        ['line\nbreak', 'tab\tand%00'],
      ],
      ([issuer, account]) => {
        const secret = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
        const uri = totpUri(secret, issuer, account);
        expect(uri).toMatch(/^otpauth:\/\/totp\/[^/?#:\s]+:[^/?#:\s]+\?[^?#\s]+$/);
        const { pathname, searchParams } = new URL(uri);
        const plain = (text: string) => text.replaceAll(':', ' ');
        // The format separates issuer and account at the first colon, escaped or not.
        expect(decodeURIComponent(pathname.slice(1))).toBe(`${plain(issuer)}:${plain(account)}`);
        expect(Object.fromEntries(searchParams)).toEqual({ secret, issuer: plain(issuer) });
      },
    ));
});
