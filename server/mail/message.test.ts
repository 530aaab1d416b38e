import { expect, test } from 'vitest';
import { brandForTest } from '#test/support/brand-for-test.ts';
import { mailMessage, senderOf } from './message.ts';

test('PR-12 the envelope is set explicitly with one address, never parsed from a header', () => {
  const sender = senderOf({
    brand: brandForTest({ name: 'Hub, Inc.' }),
    mailFrom: 'no-reply@hub.example.com',
    publicUrl: new URL('https://hub.example.com:8443'),
  });
  const mail = { id: '0198c7e2', recipient: 'ada@acme.example', queuedAt: new Date('2026-03-04T10:00:00Z') };
  expect(mailMessage(mail, { subject: 'Hello', text: 'Hello', html: 'Hello' }, sender)).toMatchObject({
    envelope: {
      from: { name: 'Hub, Inc.', address: 'no-reply@hub.example.com' },
      to: [{ name: '', address: 'ada@acme.example' }],
    },
    messageId: '<0198c7e2@hub.example.com>',
  });
});
