import { describe, expect, it } from 'vitest';
import { isEmailAddress } from './email-address.ts';

describe('an email address', () => {
  it.each(['a@b', 'anna.keller@example.com', 'a+b@c.d', 'ä@ö.de', "o'neil@example.ie", 'a..b@c'])('%s', (text) =>
    expect(isEmailAddress(text)).toBe(true),
  );
  it.each(['', '@', 'a@', '@b', 'a', 'a@b@c', 'a b@c', 'a@b c', ' a@b', 'a@b ', 'a@b\n', 'a\u00a0@b', 'a@\u3000b'])(
    'is not %j',
    (text) => expect(isEmailAddress(text)).toBe(false),
  );
});
