import { expect, test } from 'vitest';
import type { SmtpServer } from '../config/server-urls.ts';
import { mailNotSent, smtpFailure } from './smtp-transport.ts';

const server: SmtpServer = { host: 'smtp.example.com', port: 587, tls: 'starttls', user: 'hub', password: 'p\u00e4ss' };

const refusal = (response: string) =>
  smtpFailure(Object.assign(new Error(), { code: 'EMESSAGE', command: 'DATA', response }), server);

test("a server's answer becomes one line of visible ASCII", () => {
  expect(refusal('554-first\r\n554-\u001b[2Jsecond\r\n554 \u202eth\u00ef\u0000rd')).toBe(
    'smtp.example.com:587 refused the email: 554-first \\u001b[2Jsecond \\u202eth\\u00ef\\u0000rd',
  );
});

test("a server's answer is truncated", () => {
  expect(refusal(`554 ${'so '.repeat(100)}`)).toMatch(/: 554 [so ]{193}\.\.\.$/);
});

test("a server's answer loses our credentials and anything as long as a token", () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const login = [base64('\0hub\0p\u00e4ss'), base64('p\u00e4ss'), 'p\u00e4ss'];
  expect(refusal(`554 ${login.join(' ')}`)).toBe('smtp.example.com:587 refused the email: 554 *** *** ***');
  const link = `https://hub.example.com/portal/forgotten-change?hash=${'aB3-'.repeat(10)}_-x&lang=de`;
  expect(refusal(`554 see ${link}`)).toMatch(/554 see https:\/\/\*\*\*\.example\.com\/portal\/[^A-Z]*\*\*\*&lang=de$/);
  expect(refusal(`554 ${'a'.repeat(19)}`)).toContain('a'.repeat(19));
});

test('an error outside the conversation is rethrown as a bug', () => {
  const bug = new TypeError('x is not a function');
  expect(() => mailNotSent(bug, server, false)).toThrow(bug);
  const refused = Object.assign(new Error(), { code: 'EFILEACCESS' });
  expect(() => mailNotSent(refused, server, false)).toThrow(refused);
});
