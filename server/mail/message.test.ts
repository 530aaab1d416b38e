import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { brandForTest } from '#testing/brand-for-test.ts';
import { inOnePiece, mailMessage, senderOf } from './message.ts';

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

test('an email in one piece is the email that nodemailer streams, byte by byte', async () => {
  const mail = { id: '0198c7e2', recipient: 'ada@b\u00fccher.example', queuedAt: new Date('2026-03-04T10:00:00Z') };
  const text = `Gr\u00fc\u00dfe!\n\n.\n${'a b '.repeat(100)}\n`;
  const sender = { name: 'Gr\u00fc\u00dfe "Hub", Inc.', address: 'no-reply@hub.example.com', host: 'hub.example.com' };
  const message = mailMessage(mail, { subject: 'Sch\u00f6n', text, html: `<p>${text}</p>\n` }, sender);
  const writer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const sent = async (email: Parameters<typeof writer.sendMail>[0]) =>
    String((await writer.sendMail(email)).message).replaceAll(/_NmP-\w+-Part_1/g, 'boundary');
  const pieces = await sent(message);
  expect(pieces).toContain('Content-Transfer-Encoding: quoted-printable');
  expect(await sent(await inOnePiece(message))).toBe(pieces);
});
