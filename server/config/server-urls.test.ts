import { expect, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { hostAndPort, readSmtpUrl, type SmtpServer } from './server-urls.ts';

const none = { user: null, password: null };

test.each<[string, SmtpServer]>([
  ['smtps://smtp.example.com', { host: 'smtp.example.com', port: 465, tls: 'implicit', ...none }],
  ['smtp://smtp.example.com', { host: 'smtp.example.com', port: 587, tls: 'starttls', ...none }],
  ['smtp://localhost:1025/?starttls=off', { host: 'localhost', port: 1025, tls: 'off', ...none }],
  ['smtp://u:p@[::1]:25', { host: '::1', port: 25, tls: 'starttls', user: 'u', password: 'p' }],
  [
    'smtps://no-reply%40hub.example:%3A%2F%3F%23%40%25%C3%A4@10.0.0.5:2465',
    { host: '10.0.0.5', port: 2465, tls: 'implicit', user: 'no-reply@hub.example', password: ':/?#@%ä' },
  ],
])('%s is read', (text, server) => {
  expect(readSmtpUrl(text)).toEqual({ kind: 'ok', value: server });
});

test('what is wrong is refused by name, without the password', () =>
  eachRow(
    [
      'geheim',
      'smtp.example.com:587',
      'https://u:geheim@smtp.example.com',
      'smtp://u:geheim@',
      'smtp://u:geheim@host:0',
      'smtp://u:geheim@a host',
      'smtp://u:geheim@b\u00fccher.example',
      'smtp://u:geheim@host/inbox',
      'smtp://u:geh/eim@host',
      'smtp://u:12?geheim@host',
      'smtp://u:geheim@host?starttls=on',
      'smtp://u:geheim@host?starttls=off&tls.rejectUnauthorized=false',
      'smtps://u:geheim@host?starttls=off',
      'smtp://u@host',
      'smtp://:geheim@host',
      'smtp://u:geheim%@host',
      'smtp://u:geheim%00@host',
      'smtp://u%0D%0ARSET:geheim@host',
    ],
    (text) => {
      const reading = readSmtpUrl(text);
      expect(reading).toEqual({ kind: 'refused', problem: expect.stringMatching(/^SMTP_URL: ./) });
      expect(JSON.stringify(reading)).not.toMatch(/geh|eim/);
    },
  ));

test('a server is shown without its credentials', () => {
  const server: SmtpServer = { host: 'smtp.example.com', port: 465, tls: 'implicit', user: 'u', password: 'p' };
  expect(hostAndPort(server)).toBe('smtp.example.com:465');
  expect(hostAndPort({ ...server, host: '::1' })).toBe('[::1]:465');
});
