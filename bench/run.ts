// Measures what the README's performance section says. Everything is a ratio against something run beside it, in the
// same run, interleaved, since machines differ and are noisy. Usage: npm run bench [-- --seconds 6 --rounds 3]
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import autocannon, { type Request, type Result } from 'autocannon';
import { hashPassword } from '#server/secrets/password-hash.ts';
import { connect, type Database } from '#server/storage/connect.ts';
import { openEmbedded } from '#server/storage/embedded.ts';
import { type RunningServer, startBareServer, startPortal } from './servers.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, rounds: { type: 'string', default: '3' } },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = 8;
const userCount = 100;
const waitingSignIns = 500;
const testPassword = 'Lantern-Harbour-42';
const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' };

const dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-bench-'));
try {
  await measureStarts();
  const database = await openEmbedded({ dataFolder, log: { info() {}, warn: console.warn } });
  const sql = connect(database.place);
  await addUsers(sql);
  const portal = await startPortal(dataFolder);
  const bare = await startBareServer(database.place, testPassword);
  await measureSizes(portal);
  await compareSignIns(portal, bare, sql);
  await compareSessionChecks(portal, bare, sql);
  await measureFlood(portal, sql);
  await Promise.all([portal.stop(), bare.stop()]);
  await sql.end();
  await database.close();
} finally {
  await rm(dataFolder, { recursive: true, force: true });
}

async function measureStarts(): Promise<void> {
  const empty = await startPortal(dataFolder);
  await empty.stop();
  const existing: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const portal = await startPortal(dataFolder);
    await portal.stop();
    existing.push(portal.ms);
  }
  report('start to first answer, empty data folder', `${Math.round(empty.ms)} ms`, 'under 6000');
  report('start to first answer, existing data folder', `${Math.round(median(existing))} ms`, 'under 2000');
}

async function measureSizes({ origin }: RunningServer): Promise<void> {
  const get = async (path: string) => {
    const answer = await autocannonBytes(origin + path);
    return answer;
  };
  const page = await get('/portal/login');
  const html = brotliDecompressSync(page).toString();
  const scripts = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map((match) => match[1] as string);
  const sizes = await Promise.all(scripts.map(async (path) => (await get(path)).length));
  report('first response of /portal/login, brotli', `${page.length} B`, 'at most 12000');
  report(
    `whole script (${scripts.length} files), brotli`,
    `${sizes.reduce((one, other) => one + other, 0)} B`,
    'at most 75000',
  );
}

async function compareSignIns(portal: RunningServer, bare: RunningServer, sql: Database): Promise<void> {
  const requests = (path: string): Request[] =>
    Array.from({ length: userCount }, (_, index) => ({
      method: 'POST',
      path,
      headers: formHeaders,
      body: new URLSearchParams({ username: `user-${index}`, password: testPassword }).toString(),
    }));
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(rate(await load(bare.origin, requests('/login')), 303));
    ours.push(rate(await load(portal.origin, requests('/portal/performlogin')), 303));
  }
  const [{ made } = { made: 0 }] = await sql<
    { made: number }[]
  >`select count(*) as made from audit_event where event = 'signed-in'`;
  if (made < ours.length * seconds) throw new Error('the portal did not sign anybody in');
  reportRatio('sign-ins per second', ours, theirs, 'at least 0.95');
}

async function compareSessionChecks(portal: RunningServer, bare: RunningServer, sql: Database): Promise<void> {
  await sql`delete from throttle`;
  const answer = await fetch(`${portal.origin}/portal/performlogin`, {
    method: 'POST',
    headers: formHeaders,
    body: new URLSearchParams({ username: 'user-0', password: testPassword }),
    redirect: 'manual',
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((header) => header.split(';', 1)[0])
    .join('; ');
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(rate(await load(bare.origin, [{ path: '/session' }]), 200));
    ours.push(rate(await load(portal.origin, [{ path: '/portal/session', headers: { cookie } }]), 200));
  }
  reportRatio('session checks per second', ours, theirs, 'at least 0.75');
}

/** Many sign-ins at once: the pages go on, memory stays bounded, and what is too much is told so. */
async function measureFlood(portal: RunningServer, sql: Database): Promise<void> {
  await sql`delete from throttle`;
  const before = await residentMemory(portal.pid);
  let peak = before;
  const watch = setInterval(
    () =>
      void residentMemory(portal.pid).then((now) => {
        peak = Math.max(peak, now);
      }),
    50,
  );
  const signIn = (index: number) =>
    fetch(`${portal.origin}/portal/performlogin`, {
      method: 'POST',
      headers: formHeaders,
      body: new URLSearchParams({ username: `user-${index % userCount}`, password: testPassword }),
      redirect: 'manual',
    });
  const flood = Promise.all(Array.from({ length: waitingSignIns * 2 }, (_, index) => signIn(index)));
  const pageTimes: number[] = [];
  let over = false;
  const done = flood.then((answers) => {
    over = true;
    return answers;
  });
  while (!over) {
    const started = performance.now();
    await (await fetch(`${portal.origin}/portal/login`)).arrayBuffer();
    pageTimes.push(performance.now() - started);
  }
  const answers = await done;
  clearInterval(watch);
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const told = answers.filter((answer) => answer.status === 503).every((answer) => answer.headers.has('retry-after'));
  report(
    `flood of ${answers.length} sign-ins`,
    `${count(303)} done, ${count(503)} told to come back (Retry-After ${told ? 'given' : 'MISSING'})`,
    'every one answered',
  );
  report(
    'p99 of /portal/login meanwhile',
    `${Math.round(percentile(pageTimes, 0.99))} ms of ${pageTimes.length} requests`,
    'under 100',
  );
  report('memory growth meanwhile', `${Math.round((peak - before) / 1e6)} MB`, 'under 300');
}

async function load(url: string, requests: Request[]): Promise<Result> {
  return await autocannon({ url, connections, duration: seconds, requests });
}

/** Answers per second; any answer but the expected one would make the figure a lie. */
function rate(result: Result, status: number): number {
  const statuses = Object.keys(result.statusCodeStats ?? {});
  if (statuses.length !== 1 || statuses[0] !== String(status))
    throw new Error(`unexpected answers: ${JSON.stringify(result.statusCodeStats)}`);
  return result.requests.total / result.duration;
}

async function addUsers(sql: Database): Promise<void> {
  const now = new Date();
  const passwordHash = await hashPassword(testPassword);
  await sql`insert into customer (key, name, created_at) values ('acme', 'Acme', ${now})`;
  for (let index = 0; index < userCount; index += 1) {
    const name = `user-${index}`;
    await sql`
      with made as (
        insert into portal_user (username, email, password_hash, created_at)
        values (${name}, ${`${name}@acme.test`}, ${passwordHash}, ${now}) returning id
      ), named as (insert into login_name select ${name}, id from made)
      insert into membership select made.id, customer.id from made, customer`;
  }
}

async function autocannonBytes(url: string): Promise<Buffer> {
  // fetch would decode the answer; what counts is what travels.
  const { get } = await import('node:http');
  return await new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'br', accept: 'text/html', 'accept-language': 'en' } }, async (answer) => {
      resolve(Buffer.concat(await answer.toArray()));
    }).on('error', reject);
  });
}

async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

function median(numbers: number[]): number {
  return percentile(numbers, 0.5);
}

function percentile(numbers: number[], part: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function reportRatio(what: string, ours: number[], theirs: number[], goal: string): void {
  report(
    what,
    `${(median(ours) / median(theirs)).toFixed(2)} of the bare route (${Math.round(median(ours))} to ${Math.round(median(theirs))})`,
    goal,
  );
}

function report(what: string, figure: string, goal: string): void {
  console.log(`${what.padEnd(46)} ${figure.padEnd(58)} ${goal}`);
}
