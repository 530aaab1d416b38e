import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Config } from '../config/config.ts';
import { newToken } from '../crypto/token.ts';
import { readTokenCookie } from './cookies.ts';

const config = { publicUrl: new URL('https://portal.example') } as Config;
const name = '__Host-vestibule-session';
const token = newToken();
const read = (cookie: string) => readTokenCookie({ cookie }, config, 'session');

/** What a subdomain, or a page over http, can put beside ours: any pair but one of this very name. */
const pair = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        name,
        name.toLowerCase(),
        'vestibule-session',
        token,
        '=',
        ' ',
        '\t',
        '\u00a0',
        '"',
        ',',
        '%3b',
        '$',
      ),
      fc.string({ unit: 'binary', maxLength: 12 }),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join('').replaceAll(';', ''));
const isOurs = (text: string) => /^[ \t]*__Host-vestibule-session=/.test(text);

it('CK-04 no cookie beside ours changes what is read, and one of the same name makes it untrustworthy', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 4 }), fc.array(pair, { maxLength: 4 }), (before, after) => {
      const cookie = [...before, `${name}=${token}`, ...after].join(';');
      expect(read(cookie), cookie).toBe([...before, ...after].some(isOurs) ? null : token);
    }),
  );
});

it('CK-04 a header without ours identifies nobody, whatever it holds', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
      const others = pairs.filter((text) => !isOurs(text));
      expect(read(others.join(';'))).toBeNull();
    }),
  );
});
