import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seal, unseal } from './keys.ts';

const [first, second, stranger] = [randomBytes(32), randomBytes(32), randomBytes(32)];

describe('sealed texts', () => {
  it('are sealed with the first key and opened with any, so that secrets can be rotated', () => {
    const before = seal([first], 'token', 'mail:1');
    expect(unseal([second, first], before, 'mail:1')).toBe('token');
    const after = seal([second, first], 'token', 'mail:1');
    expect(unseal([first], after, 'mail:1')).toBeNull();
    expect(unseal([second], after, 'mail:1')).toBe('token');
  });

  it('do not open in another row, with a foreign key, with one bit changed, or truncated', () => {
    const sealed = seal([first], 'token', 'mail:1');
    expect(unseal([first], sealed, 'mail:2')).toBeNull();
    expect(unseal([stranger], sealed, 'mail:1')).toBeNull();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(unseal([first], changed, 'mail:1'), `bit ${at}`).toBeNull();
      expect(unseal([first], sealed.subarray(0, at), 'mail:1'), `cut ${at}`).toBeNull();
    }
  });

  it('look different every time and do not show the text', () => {
    const [one, other] = [seal([first], 'token', 'mail:1'), seal([first], 'token', 'mail:1')];
    expect(one.equals(other)).toBe(false);
    expect(one.toString('latin1')).not.toContain('token');
  });
});
