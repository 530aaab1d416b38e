import { randomUUID } from 'node:crypto';
import type { Mail } from '#server/people/mail-kinds.ts';

/** A typical notice. */
export function mailOfBench(): Mail {
  return {
    id: randomUUID(),
    kind: 'passwordChanged',
    recipient: 'user-1@bench.example',
    language: 'en',
    queuedAt: new Date(),
    details: { username: 'user-1', at: new Date().toISOString(), address: '203.0.113.7' },
    token: null,
  };
}
