import { expect, it } from 'vitest';
import { cuttableDatabase } from '#test/support/cuttable-database.ts';
import { databaseForTest } from '#test/support/database-for-test.ts';
import { sharedByFile } from '#test/support/portal-of-file.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

const database = sharedByFile(databaseForTest);
const wire = sharedByFile(() => cuttableDatabase(database));
const secret = 'a-secret-for-tests-0123456789-0123456789';

async function keys(...args: string[]): Promise<string> {
  const env = { DATABASE_URL: wire.url, VESTIBULE_SECRET: secret, VESTIBULE_CONFIG: '' };
  const { code, out, err } = await runVestibule(['keys', ...args], { env });
  expect([code, err]).toEqual([0, '']);
  return out;
}

type Listed = { id: string; algorithm: string; endsAt: string | null };
const list = async (): Promise<Listed[]> => JSON.parse(await keys('list', '--json'));

it('keys roll publishes new keys beside those in use, and --now withdraws all others', async () => {
  expect(await keys('list')).toContain('There are no keys yet');
  expect(await keys('roll')).toContain('The new keys sign from');
  const listed = await list();
  expect(listed.map(({ algorithm, endsAt }) => `${algorithm} ${endsAt === null ? 'stays' : 'ends'}`).sort()).toEqual([
    'ES256 ends',
    'ES256 stays',
    'EdDSA ends',
    'EdDSA stays',
  ]);
  expect(JSON.stringify(listed)).not.toContain('sealed');
  expect(await keys('roll')).toContain('New keys are published already');
  expect(await keys('roll', '--now')).toContain('all others are withdrawn');
  const ids = (await list()).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  for (const { id } of listed) expect(ids).not.toContain(id);
});
