import { describe, expect, it } from 'vitest';
import { codeOfStep } from '#test/support/authenticator-app.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { totpStep, totpUri } from './totp.ts';

/** RFC 6238, appendix B: the seconds, and the last six digits of the code for SHA-1. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const rfcCodes = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

/** The first and the last millisecond of a step. */
const edges = (step: number) => [new Date(step * 30_000), new Date(step * 30_000 + 29_999)];

describe('codes of an app', () => {
  it('are those of RFC 6238', () => {
    for (const [seconds, code] of rfcCodes) {
      const step = Math.floor(seconds / 30);
      for (const time of edges(step)) expect(totpStep(rfcSecret, code, time)).toBe(step);
      expect(codeOfStep(rfcSecret, step)).toBe(code);
    }
  });

  it('are valid in their own step and one either side, to the millisecond', () => {
    for (const [seconds, code] of rfcCodes.slice(1)) {
      const step = Math.floor(seconds / 30);
      const isGoodAt = (other: number) => edges(other).map((time) => totpStep(rfcSecret, code, time) === step);
      for (const near of [step - 1, step, step + 1]) expect(isGoodAt(near), `${near - step}`).toEqual([true, true]);
      for (const far of [step - 21, step - 2, step + 2, step + 21])
        expect(isGoodAt(far), `${far - step}`).toEqual([false, false]);
    }
  });
});

it('MF-18 IN-15 a secret is given to an app with issuer and account, each as a whole', () =>
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
