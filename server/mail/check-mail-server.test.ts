import { expect, test } from 'vitest';
import { type MailServerOptions, mailServerForTest, testAuthority } from '#test/support/mail-for-test.ts';
import { readSmtpUrl } from '../config/server-urls.ts';
import { checkMailServer } from './check-mail-server.ts';

const auth = { user: 'hub', password: 'Canary-8' };
const times = { reach: 1500, answer: 2500, takeMail: 5000, idle: 500 };

/** The conversation with a server, step by step. */
async function check(options: MailServerOptions, change = (url: string) => url, ca = testAuthority) {
  const server = await mailServerForTest(options);
  try {
    const reading = readSmtpUrl(change(server.url));
    if (reading.kind === 'refused') throw new Error(reading.problem);
    const steps = await checkMailServer(reading.value, 'hub.example.com', { ca, times });
    expect(JSON.stringify(steps)).not.toContain('Canary');
    expect(server.mails).toEqual([]);
    return steps.map(({ ok, words }) => [ok, words.replace(`:${server.port}`, '')]);
  } finally {
    await server.close();
  }
}

const answers = [true, '127.0.0.1 answers'];
const untried = [null, 'not tried'];

test('a good server passes every step, encrypted as its URL says', async () => {
  const encrypted = (how: string) => [true, `TLSv1.3 ${how}, with a valid certificate`];
  expect(await check({ auth })).toEqual([answers, encrypted('by STARTTLS'), [true, 'accepted']]);
  expect(await check({ auth, tls: 'implicit' })).toEqual([answers, encrypted('from the start'), [true, 'accepted']]);
  expect(await check({ tls: 'off' })).toEqual([
    answers,
    [null, expect.stringContaining('unencrypted')],
    [null, 'SMTP_URL has no user'],
  ]);
});

test("the first failing step is named, with the server's answer", async () => {
  expect(await check({ behave: 'never-greet' })).toEqual([
    [false, '127.0.0.1 did not greet in time'],
    untried,
    untried,
  ]);
  expect(await check({ auth, tls: 'off' }, (url) => url.replace('?starttls=off', ''))).toEqual([
    answers,
    [false, expect.stringContaining('does not offer encryption (STARTTLS): 5')],
    untried,
  ]);
  expect(await check({ auth }, undefined, '')).toEqual([
    answers,
    [false, expect.stringContaining('certificate that is not trusted here')],
    untried,
  ]);
  expect(await check({ auth, tls: 'implicit', certificate: 'elsewhere' })).toEqual([
    answers,
    [false, expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID')],
    untried,
  ]);
  expect(await check({ auth }, (url) => url.replace('Canary', 'Canary-wrong'))).toEqual([
    answers,
    [true, expect.stringContaining('TLSv1.3')],
    [false, '127.0.0.1 did not accept the login: 535 No login for *** with ***'],
  ]);
});
