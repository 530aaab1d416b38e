import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { isEmailAddress } from './email-address.ts';

describe('an email address', () => {
  it('is one @ with text on both sides', () =>
    eachRow(
      ['a@b', 'anna.keller@example.com', 'a+b@c.d', 'ä@ö.de', "o'neil@example.ie", 'a..b@c', ' a@b', 'a@b\u00a0'],
      (text) => expect(isEmailAddress(text)).toBe(true),
    ));
  it('is nothing else', () =>
    eachRow(['', '@', 'a@', '@b', 'a', 'a@b@c', 'a b@c', 'a@b c', 'a@b\nc', 'a\u00a0@b', 'a@\u3000b'], (text) =>
      expect(isEmailAddress(text)).toBe(false),
    ));
});
