import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Database } from '#server/database/database.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import type { Mail } from '#server/people/mail-kinds.ts';
import { reportRatio } from './figures.ts';
import { root, startPortal } from './servers.ts';

const mailCount = 10_000;
const senders = 2;
/** Measured rounds of each side, after a warm-up round. */
const rounds = 3;

/** What a mail server received: the total, the number of distinct emails, and the time from first to last. */
type Received = { count: number; distinct: number; ms: number };

/**
 * Drains 10,000 queued emails with two instances on one database, each email once, alternating with two plain senders
 * that send the same emails from memory to the same mail server over as many connections.
 */
export async function compareMails(dataFolder: string, sql: Database): Promise<void> {
  await compareAt(diskTime, dataFolder, sql);
  await compareAt(0, dataFolder, sql);
}

/** The time a mail server needs to write an email to disk, in milliseconds; without it the CPU is the limit. */
const diskTime = 10;

async function compareAt(pause: number, dataFolder: string, sql: Database): Promise<void> {
  const sink = await startSink(pause);
  const rates = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const theirs = await sendPlainly(sink);
    const ours = await drain(sink, dataFolder, sql);
    if (ours.count !== mailCount || ours.distinct !== mailCount)
      throw new Error(`${ours.count} mails came, ${ours.distinct} of them different`);
    if (round === 0) continue;
    rates.theirs.push((mailCount / theirs.ms) * 1000);
    rates.ours.push((mailCount / ours.ms) * 1000);
  }
  sink.stop();
  reportRatio(`mails per second to a server with ${pause} ms each`, {
    ...rates,
    whose: 'two plain senders',
    least: 0.9,
  });
}

async function sendPlainly(sink: Sink): Promise<Received> {
  const args = ['bench/baselines.ts', 'mailer', String(sink.port), String(mailCount / senders)];
  await Promise.all(
    Array.from({ length: senders }, () => ended(spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }))),
  );
  return await sink.take();
}

async function drain(sink: Sink, dataFolder: string, sql: Database): Promise<Received> {
  const [user] = await sql<{ id: string }[]>`select id from portal_user where username = 'user-1'`;
  const reader = { id: user?.id ?? '', username: 'user-1', email: 'user-1@bench.example', language: 'en' };
  await sql.begin(async (sql) => {
    for (let count = 0; count < mailCount; count += 1)
      await queueMail(sql, reader, {
        kind: 'passwordChanged',
        now: new Date(),
        address: mailOfBench().details.address ?? '',
      });
  });
  // They are due once both instances are up, so that neither competes with the other's start.
  await sql`update job set run_after = 'infinity'`;
  const env = { SMTP_URL: `smtp://127.0.0.1:${sink.port}?starttls=off` };
  const portals = await Promise.all(Array.from({ length: senders }, () => startPortal(dataFolder, env)));
  await sql`update job set run_after = ${new Date()}`;
  while ((await sink.count()) < mailCount) await new Promise((resolve) => setTimeout(resolve, 100));
  // Waits for emails that might be sent twice.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await Promise.all(portals.map((portal) => portal.stop()));
  return await sink.take();
}

type Sink = { port: number; count: () => Promise<number>; take: () => Promise<Received>; stop: () => void };

async function startSink(pause: number): Promise<Sink> {
  const child = spawn(process.execPath, ['bench/baselines.ts', 'sink', String(pause)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}');
  const { port } = (await next()) as { port: number };
  const ask = async (question: string): Promise<Received> => {
    child.stdin.write(`${question}\n`);
    return await next();
  };
  return {
    port,
    count: async () => (await ask('count')).count,
    take: () => ask('take'),
    stop: () => child.kill(),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a plain sender ended with ${code}`)))),
  );
}

/** A typical notice. */
export function mailOfBench(): Mail {
  return {
    id: randomUUID(),
    kind: 'passwordChanged',
    recipient: 'user-1@bench.example',
    language: 'en',
    queuedAt: new Date(),
    details: { username: 'user-1', at: new Date().toISOString(), address: '203.0.113.7' },
    token: null,
  };
}
