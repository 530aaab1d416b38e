import { createHash } from 'node:crypto';

/** Short enough for an address, long enough that no two contents share it. */
export function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 16);
}
