import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type Behaviour,
  type MailServerForTest,
  type MailServerOptions,
  mailServerForTest,
  testAuthority,
} from '#test/support/mail-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { readSmtpUrl, type SmtpServer } from '../config/server-urls.ts';
import { MailNotSent, type MailTransport } from '../deps.ts';
import type { WordedMail } from '../people/mail-kinds.ts';
import type { Sender } from './message.ts';
import type { SmtpSettings } from './smtp-transport.ts';
import { smtpFailure, smtpTransport, stepOf } from './smtp-transport.ts';

const token = 'T0ken_'.padEnd(43, 'aB3-');
const link = `https://hub.example.com/portal/forgotten-change?hash=${token}&lang=de`;
const words: WordedMail = { subject: 'Hello', text: `Your link:\n\n${link}\n`, html: `<a href="${link}">link</a>` };
const mail = {
  id: '0198c7e2-6f3b-7c1a-9d55-0a8b1c2d3e4f',
  recipient: 'ada@acme.example',
  queuedAt: new Date('2026-03-04T10:00:00Z'),
};
const sender: Sender = { name: 'Hub', address: 'no-reply@hub.example.com', host: 'hub.example.com' };
const auth = { user: 'hub@relay.example', password: 'Canary p/ss:8' };
const times = { reach: 8000, answer: 9000, takeMail: 10_000, idle: 500 };
/** For servers that stall, yet long enough for a handshake on a busy machine. */
const short = { ...times, reach: 1500, answer: 2500, takeMail: 20_000 };

let cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const step of cleanUp.reverse()) await step();
  cleanUp = [];
});

async function startServer(options?: MailServerOptions): Promise<MailServerForTest> {
  const server = await mailServerForTest(options);
  cleanUp.push(server.close);
  return server;
}

function transportTo(url: string, settings: SmtpSettings = {}, from: Sender = sender): MailTransport {
  const reading = readSmtpUrl(url);
  if (reading.kind === 'refused') throw new Error(reading.problem);
  const transport = smtpTransport(reading.value as SmtpServer, from, { ca: testAuthority, times, ...settings });
  cleanUp.push(transport.close);
  return transport;
}

/** The result of sending, or the error. */
async function outcomeOf(sending: Promise<void>): Promise<Pick<MailNotSent, 'why' | 'message'> | 'sent'> {
  try {
    await sending;
    return 'sent';
  } catch (error) {
    if (!(error instanceof MailNotSent)) throw error;
    expect(error.message).toMatch(/^127\.0\.0\.1:\d+ [\x20-\x7e]{1,280}$/);
    expect(error.message).not.toContain('Canary');
    return { why: error.why, message: error.message };
  }
}

const failed = (why: MailNotSent['why'], message: RegExp) => ({ why, message: expect.stringMatching(message) });

describe('an email', () => {
  test('PR-10 PR-12 goes only to the stored address, in the envelope and in the header', async () => {
    const server = await startServer();
    const transport = transportTo(server.url);
    const recipients = ['ada@acme.example', 'ada+a=b/{c}%d!e@acme.example'];
    for (const recipient of recipients) await transport.send({ ...mail, recipient }, words);
    expect(server.mails.map(({ envelope }) => envelope)).toEqual(
      recipients.map((to) => ({ from: 'no-reply@hub.example.com', to: [to] })),
    );
    expect(server.mails.map(({ parsed }) => parsed.to?.map(({ address }) => address))).toEqual(
      recipients.map((to) => [to]),
    );
    expect(server.mails.map(({ parsed }) => parsed.cc ?? parsed.bcc)).toEqual([undefined, undefined]);
  });

  test.each([
    'ada@acme.example, eve@evil.example',
    'ada@acme.example\r\nRCPT TO:<eve@evil.example>',
    'Ada <eve@evil.example>',
    'ada@acme.example (eve@evil.example)',
    'eve@evil.example:ada@acme.example;',
  ])('PR-12 with %j for its address does not reach an address contained in it', async (recipient) => {
    const server = await startServer({ options: { lenientAddressParsing: true } });
    await outcomeOf(transportTo(server.url).send({ ...mail, recipient }, words));
    for (const { envelope } of server.mails) {
      expect(envelope.to).toHaveLength(1);
      expect(envelope.to[0]).not.toBe('eve@evil.example');
    }
  });

  test('PR-11 has only our headers, whatever the hub and the subject are called', async () => {
    const server = await startServer();
    const evil = 'x\r\nBcc: eve@evil.example\r\n\r\n<h1>"Hi" \u202e\u0000, eve@evil.example;';
    await transportTo(server.url, {}, { ...sender, name: evil }).send(mail, { ...words, subject: evil });
    const [received] = server.mails;
    expect(received?.envelope.to).toEqual(['ada@acme.example']);
    expect(received?.parsed.headers.map(({ key }) => key).sort()).toEqual([
      ...['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'],
    ]);
    expect(received?.parsed.from).toMatchObject({ address: 'no-reply@hub.example.com' });
    expect(received?.parsed.text).toContain(link);
  });

  test('names its sender and queue time, is marked as automatic, and has its link unencoded on its own line', async () => {
    const server = await startServer();
    const transport = transportTo(server.url, {}, { ...sender, name: 'Gr\u00fc\u00dfe "Hub", Inc.' });
    for (let round = 0; round < 2; round += 1) await transport.send(mail, words);
    for (const { parsed, raw, greeting } of server.mails) {
      expect(parsed).toMatchObject({
        from: { name: 'Gr\u00fc\u00dfe "Hub", Inc.', address: 'no-reply@hub.example.com' },
        subject: 'Hello',
        messageId: `<${mail.id}@hub.example.com>`,
        date: '2026-03-04T10:00:00.000Z',
        html: expect.stringContaining(`href="${link}"`),
      });
      expect(parsed.headers).toContainEqual(
        expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
      );
      expect(raw.split('\r\n')).toContain(link);
      expect([greeting, /mailer/i.test(raw)]).toEqual(['hub.example.com', false]);
    }
  });
});

describe('the connection', () => {
  test('is kept for the next email, and replaced if the server dropped it', async () => {
    const server = await startServer({ auth });
    const transport = transportTo(server.url);
    for (let round = 0; round < 3; round += 1) await transport.send(mail, words);
    expect(server.connections()).toBe(1);
    await server.shut();
    await server.reopen();
    expect(await outcomeOf(transport.send(mail, words))).toBe('sent');
    expect(server.connections()).toBe(2);
  });

  test('is encrypted by STARTTLS, from the start, or not at all, as the URL says', async () => {
    for (const [tls, version] of [
      ['starttls', 'TLSv1.3'],
      ['implicit', 'TLSv1.3'],
      ['off', null],
    ] as const) {
      const server = await startServer({ tls, auth });
      await transportTo(server.url).send(mail, words);
      expect(server.mails[0]).toMatchObject({ tls: version, user: auth.user });
    }
  });

  test('is not used without STARTTLS, before any login or email is sent', async () => {
    const server = await startServer({ tls: 'off', auth });
    const url = server.url.replace('?starttls=off', '');
    expect(await outcomeOf(transportTo(url).send(mail, words))).toEqual(
      failed('away', /does not offer encryption \(STARTTLS\): 5\d\d /),
    );
    expect(server.mails).toEqual([]);
  });

  test('requires a certificate of a known CA, for this host, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    for (const tls of ['starttls', 'implicit'] as const) {
      const server = await startServer({ tls, auth });
      const unknown = smtpTransport(
        { host: '127.0.0.1', port: server.port, tls, user: auth.user, password: auth.password },
        sender,
        { times },
      );
      cleanUp.push(unknown.close);
      expect(await outcomeOf(unknown.send(mail, words))).toEqual(
        failed('away', /has a certificate that is not trusted here \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)$/),
      );
      const elsewhere = await startServer({ tls, auth, certificate: 'elsewhere' });
      expect(await outcomeOf(transportTo(elsewhere.url).send(mail, words))).toEqual(
        failed('away', /has a certificate that is not trusted here \(ERR_TLS_CERT_ALTNAME_INVALID\)$/),
      );
    }
  });

  test('requires the configured login, even if the server does not', async () => {
    const server = await startServer({ auth });
    const wrong = server.url.replace(encodeURIComponent(auth.password), 'Canary-wrong');
    expect(await outcomeOf(transportTo(wrong).send(mail, words))).toEqual(
      failed('away', /did not accept the login: 535 No login for \*\*\* with \*\*\*$/),
    );
    const open = await startServer();
    const url = open.url.replace('//', `//u:${encodeURIComponent(auth.password)}@`);
    expect(await outcomeOf(transportTo(url).send(mail, words))).toEqual(failed('away', /did not accept the login/));
    expect([...server.mails, ...open.mails]).toEqual([]);
  });
});

describe('a failing server', () => {
  const answer = (at: 'greeting' | 'mail' | 'rcpt' | 'data', code: number): Behaviour => ({ at, code, words: 'no' });
  const failures: [string, Behaviour, MailNotSent['why'], RegExp][] = [
    ['says nothing', 'never-greet', 'away', /did not greet in time$/],
    ['greets with 421', answer('greeting', 421), 'away', /is not ready for email: 421 no$/],
    ['hangs after the mail', 'hang-after-data', 'refused', /stopped answering$/],
    ['drops in the mail', 'drop-in-data', 'away', /closed the connection(?: \(EPIPE\))?$/],
    ['refuses the recipient', answer('rcpt', 550), 'refused', /refused the recipient: 550 no$/],
    ['refuses the mail', answer('data', 554), 'refused', /refused the email: 554 no$/],
  ];
  // The silent ones take their time.
  test.each(failures.filter(([name]) => runsAll || !/nothing|hangs/.test(name)))(
    'that %s is told apart, within seconds, and forgiven afterwards',
    async (_, behave, why, message) => {
      const server = await startServer({ behave });
      const transport = transportTo(server.url, { times: short });
      const start = performance.now();
      expect(await outcomeOf(transport.send(mail, words))).toEqual(failed(why, message));
      expect(performance.now() - start).toBeLessThan(short.takeMail);
      server.behave('well');
      expect(await outcomeOf(transport.send(mail, words))).toBe('sent');
    },
  );
});

const relay: SmtpServer = { host: 'smtp.example.com', port: 587, tls: 'starttls', user: 'hub', password: 'p\u00e4ss' };

const refusal = (response: string) =>
  smtpFailure(Object.assign(new Error(), { code: 'EMESSAGE', command: 'DATA', response }), relay);

test.each([
  ['ECONNREFUSED', 'connection', 'cannot be reached'],
  ['ECONNRESET', 'connection', 'closed the connection'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'TLS', 'failed the TLS handshake'],
  ['EPROTO', 'TLS', 'failed the TLS handshake'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS', 'has a certificate that is not trusted here'],
])('%s without a system call, as of several addresses, is of the %s', (originalCode, step, words) => {
  const error = Object.assign(new Error(), { code: 'ESOCKET', originalCode });
  expect([stepOf(error), smtpFailure(error, relay)]).toEqual([step, `smtp.example.com:587 ${words} (${originalCode})`]);
});

test("a server's answer becomes one short line, without our credentials and anything as long as a token", () => {
  expect(refusal('554-first\r\n554-\u001b[2Jsecond\r\n554 \u202eth\u00ef\u0000rd')).toBe(
    'smtp.example.com:587 refused the email: 554-first \\u001b[2Jsecond \\u202eth\\u00ef\\u0000rd',
  );
  expect(refusal(`554 ${'so '.repeat(100)}`)).toMatch(/: 554 [so ]{193}\.\.\.$/);
  const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
  const login = [base64('\0hub\0p\u00e4ss'), base64('p\u00e4ss'), 'p\u00e4ss'];
  expect(refusal(`554 ${login.join(' ')}`)).toBe('smtp.example.com:587 refused the email: 554 *** *** ***');
  expect(refusal(`554 see ${link}`)).not.toContain(token.slice(0, 20));
});
