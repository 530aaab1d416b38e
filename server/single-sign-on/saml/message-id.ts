import { randomBytes } from 'node:crypto';

/** A new ID for a message: SAML core §1.3.4 requires at least 128 random bits, and no leading digit. */
export function newMessageId(): string {
  return `_${randomBytes(20).toString('hex')}`;
}
