import { expect, it } from 'vitest';
import { mailServerForTest, queueMailTo, waitingMails } from '#test/support/mail-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { startAfresh } from '#test/support/reset-for-test.ts';
import { readSmtpUrl } from '../config/server-urls.ts';
import { second } from '../limits.ts';
import { startWorkers } from '../operations/workers.ts';
import { senderOf } from './message.ts';
import { mailsAtOnce, smtpTransport } from './smtp-transport.ts';

const portal = portalOfFile({ once: startAfresh });

it('10,000 notices ahead of what somebody waits for do not delay it by a second', async () => {
  const server = await mailServerForTest({ tls: 'off' });
  const url = readSmtpUrl(server.url);
  if (url.kind === 'refused') throw new Error(url.problem);
  const mails = smtpTransport(url.value, senderOf({ ...portal.deps.config, mailFrom: 'portal@acme.test' }));
  await queueMailTo(portal, 'bob');
  await portal.sql.begin(
    async (sql) =>
      await sql`
      insert into job (queue, payload, user_id, run_after, made_at)
      select queue, payload, user_id, run_after, made_at from job, generate_series(1, 10000)`,
    { statementTimeout: 0 },
  );
  const workers = startWorkers({ ...portal.deps, mails });
  await server.waitForMails(50);
  const ahead = server.mails.length;
  const queuedAt = performance.now();
  await queueMailTo(portal, 'alice', { kind: 'singleSignOnHint' });
  const arrival = () => server.mails.findIndex(({ envelope }) => envelope.to.includes('alice@acme.test'));
  await expect.poll(arrival, { interval: 5 }).toBeGreaterThan(0);
  // The time, unless the machine itself stands still.
  expect(performance.now() - queuedAt).toBeLessThan(second);
  // Those that were under way go first, and a few that were taken while it was queued.
  expect(arrival() - ahead).toBeLessThan(10 * mailsAtOnce);
  expect((await waitingMails(portal)).length).toBeGreaterThan(9000);
  await workers.stop();
  mails.close();
  await server.close();
});
