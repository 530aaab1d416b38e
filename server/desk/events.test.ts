import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { atDesk, getDesk } from '#test/support/desk-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import type { Browser } from '#test/support/two-factor-for-test.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditEvent } from '../audit/audit-events.ts';

const portal = portalOfFile();
let [support, ada] = [{} as Browser, {} as Browser];
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'other']) await addCustomer(portal, key);
  await addUser(portal, { username: 'sam', role: 'support' });
  await addUser(portal, { username: 'ada', administers: ['acme'] });
  [support, ada] = [await atDesk(portal, 'sam'), await atDesk(portal, 'ada')];
  await portal.sql`delete from audit_event`;
});

const record = async (event: Partial<AuditEvent>, at = '2026-03-04T12:00Z') =>
  await insertAuditEvent(
    portal.sql,
    { event: 'signed-in', username: 'alice', customerKey: 'acme', ...event } as AuditEvent,
    new Date(at),
  );
const references = ({ body }: { body: string }) =>
  [...body.matchAll(/<code>(\w{4}.\w{4})<\/code>/g)].map(([, found]) => found);

describe('events', () => {
  it('are filtered by customer, person, kind and days', async () => {
    const bob = await addUser(portal, { username: 'bob' });
    await record({ reference: '0000-0001' });
    await record({ reference: '0000-0002', customerKey: 'other' });
    await record({ reference: '0000-0003', event: 'sign-in-refused', reason: 'network' }, '2026-03-05T23:59Z');
    await record(
      { reference: '0000-0004', event: 'user-changed', userId: bob, username: 'robert', actor: 'user:sam' },
      '2026-03-06T00:00Z',
    );
    const shown = async (query: string, cookies = support) =>
      references(await getDesk(portal, `/events?${query}`, cookies)).map((found) => Number(found?.slice(-1)));
    expect(await shown('')).toEqual([4, 3, 2, 1]);
    expect(await shown('customer=other')).toEqual([2]);
    expect(await shown('person=BOB')).toEqual([4]);
    expect(await shown('person=nobody')).toEqual([]);
    expect(await shown('kind=refusals')).toEqual([3]);
    expect(await shown('kind=acts')).toEqual([4]);
    expect(await shown('from=2026-03-05&to=2026-03-05')).toEqual([3]);
    expect(await shown('from=2026-02-30&before=x&kind=none')).toEqual([4, 3, 2, 1]);
    expect(await shown('', ada)).toEqual([4, 3, 1]);
    expect((await getDesk(portal, '/events?customer=other', ada)).statusCode).toBe(404);
  });

  it('older ones are a link away', async () => {
    for (let n = 0; n < 51; n += 1) await record({ reference: `0000-00${n + 10}` });
    const page = await getDesk(portal, '/events?kind=signIns', support);
    expect(references(page)).toHaveLength(50);
    const [, older = ''] = /href="[^"]*(\/events\?[^"]*before=\d+)"/.exec(page.body) ?? [];
    expect(
      references(await getDesk(portal, older.replaceAll('&amp;', '&'), support)).map((found) => found?.slice(-2)),
    ).toEqual(['10']);
  });
});

describe('a file of events', () => {
  it('has a line for each, and no formula', async () => {
    await record({ username: '=1+1', browser: 'a "b", c', address: '192.0.2.1', reference: '0000-0001' });
    const { body, headers } = await getDesk(portal, '/events.csv', support);
    expect(headers['content-disposition']).toBe('attachment; filename="events.csv"');
    expect(body.split('\r\n')[1]).toBe(
      `"2026-03-04T12:00:00.000Z","signed-in","","'=1+1","acme","","192.0.2.1","a ""b"", c","","0000-0001"`,
    );
  });

  it('names to an administrator no other customer, nor what was done there', async () => {
    const theirs = {
      steps: [{ step: 'other', outcome: 'idp' }],
      actor: 'user:olaf',
      address: '192.0.2.9',
      connection: 'other-idp',
    };
    await record({ customerKey: 'acme, other', ...theirs });
    await record({ customerKey: 'acme, other', event: 'app-removed' });
    await record({ customerKey: 'other', username: 'foreign' });
    const { body } = await getDesk(portal, '/events.jsonl', ada);
    expect(
      body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ customers: ['acme'], steps: [], actor: null, address: null, connection: null }),
    ]);
    expect(body).not.toMatch(/other|olaf|192\.0\.2\.9/);
    expect((await getDesk(portal, '/events.csv', ada)).body).not.toMatch(/other|olaf|foreign|192\.0\.2\.9/);
  });
});
