import { beforeAll, expect, it } from 'vitest';
import { queueMail } from '#server/mail/queue-mail.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { portalForTest } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

const metricsToken = 'a-token-of-the-monitoring';
const portal = portalOfFile({ config: { metricsToken } });
beforeAll(async () => {
  await addCustomer(portal, 'acme');
});

async function readMetrics(authorization?: string) {
  return await portal.send({ url: '/metrics', headers: { ...(authorization && { authorization }) } });
}

/** The value of a sample, by name and labels. */
async function sample(name: string): Promise<number> {
  const { body } = await readMetrics(`Bearer ${metricsToken}`);
  const line = body.split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

it('nobody reads the metrics without the token', async () => {
  for (const authorization of [undefined, 'Bearer', 'Bearer x', `bearer ${metricsToken}x`, metricsToken]) {
    const answer = await readMetrics(authorization);
    expect(answer.statusCode).toBe(401);
    expect(answer.body).not.toContain('vestibule_');
  }
  const answer = await readMetrics(`Bearer ${metricsToken}`);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toContain('text/plain');
});

it('there are no metrics if no token is configured', async () => {
  const plain = await portalForTest({}, portal);
  expect((await plain.send({ url: '/metrics', headers: { authorization: 'Bearer null' } })).statusCode).toBe(404);
  await plain.close();
});

it('show how many emails are queued, since when, and how many were sent', async () => {
  const id = await addUser(portal, { username: 'bob' });
  const user = { id, username: 'bob', email: 'bob@acme.test', language: null };
  expect(await sample('vestibule_mails_waiting')).toBe(0);
  await queueMail(portal.sql, user, { kind: 'passwordChanged', now: portal.deps.now() });
  portal.wait(30_000);
  expect(await sample('vestibule_mails_waiting')).toBe(1);
  expect(await sample('vestibule_mails_oldest_wait_seconds')).toBe(30);
  await portal.workOff();
  expect(await sample('vestibule_mails_waiting')).toBe(0);
  expect(await sample('vestibule_mails_oldest_wait_seconds')).toBe(0);
  expect(await sample('vestibule_mails_sent_total{kind="passwordChanged"}')).toBe(1);
});
