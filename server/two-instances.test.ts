import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { fromVisitor, statusesOf, type TwoPortalsOnOne, twoPortals } from '#test/support/two-portals.ts';
import { findPostgresProcess } from './database/embedded/process.ts';
import { hubKeysRemembered } from './hub/hub-keys.ts';

let portals: TwoPortalsOnOne;

beforeAll(async () => {
  portals = await twoPortals();
}, 180_000);
afterAll(() => portals.close());

async function command(...args: string[]): Promise<void> {
  const env = { ...portals.env, DATABASE_URL: portals.wire.url, VESTIBULE_SECRET: 'x'.repeat(43) };
  expect(await runVestibule(args, { env })).toMatchObject({ code: 0 });
}

async function restartDatabase(): Promise<void> {
  const { sql, cluster } = portals;
  const state = () =>
    sql`select`.then(
      () => 'there',
      () => 'away',
    );
  process.kill((await findPostgresProcess(cluster)) ?? 0, 'SIGINT');
  await expect.poll(state).toBe('away');
  await expect.poll(state, { timeout: 60_000 }).toBe('there');
}

it('both are rolled, one after the other, and every request is answered well', async () => {
  portals.load.begin();
  for (const index of [0, 1]) {
    portals.instances[index]?.child.kill('SIGTERM');
    expect(await portals.instances[index]?.exit).toEqual({ code: 0, signal: null });
    await portals.start(index);
    await portals.load.wellAgain();
  }
  expect(portals.load.unanswered()).toEqual({ refused: 0, lost: {} });
  // Two starts, on a busy machine.
}, 240_000);

it('one is killed: at most the requests it was working on are lost, and nothing after them', async () => {
  portals.load.begin();
  portals.instances[0]?.child.kill('SIGKILL');
  await portals.instances[0]?.exit;
  await portals.load.wellAgain();
  const { lost, refused } = portals.load.unanswered();
  expect(Object.keys(lost).filter((what) => !what.endsWith(' 502'))).toEqual([]);
  // Each connection of the load waits for one answer. nginx asks the other instance for what is not a POST, unless it has
  // done so already; for the hub it answers 503.
  expect(Object.values(lost).reduce((sum, count) => sum + count, refused)).toBeLessThanOrEqual(9);

  portals.load.begin();
  await pause(1000);
  await portals.start(0);
  await portals.load.wellAgain();
  expect(portals.load.unanswered()).toEqual({ refused: 0, lost: {} });
});

it('PostgreSQL is restarted: requests are refused until it is back, and answered well within 5 s of that', async () => {
  portals.load.begin();
  await restartDatabase();
  expect(await portals.load.wellAgain()).toBeLessThan(5000);
  const { lost, refused } = portals.load.unanswered();
  expect(lost).toEqual({});
  expect(refused).toBeGreaterThan(0);
});

it('after all that, each acknowledged sign-in and sign-out is what it was', async () => {
  await portals.load.stop();
  expect(portals.load.sessions.size).toBeGreaterThan(20);
  expect(portals.load.ended.size).toBeGreaterThan(10);
  expect(await statusesOf(portals, portals.load.sessions)).toEqual(new Set([200]));
  expect(await statusesOf(portals, portals.load.ended)).toEqual(new Set([401]));
});

it('what is changed elsewhere, each instance knows at once, and new keys within a second', async () => {
  const cookie = [...portals.load.sessions].at(-1) ?? '';
  const each = async (path: string) =>
    await Promise.all(
      portals.instances.map(async ({ origin }) => await fetch(origin + path, { headers: { ...fromVisitor, cookie } })),
    );
  const statuses = async () => (await each('/portal/session')).map(({ status }) => status);
  const keys = async () => await Promise.all((await each('/.well-known/jwks.json')).map((answer) => answer.text()));
  expect(await statuses()).toEqual([200, 200]);
  const before = await keys();
  await command('customer', 'set', 'acme', '--allow-network', '203.0.113.0/24');
  await command('keys', 'roll', '--yes');
  expect(await statuses()).toEqual([401, 401]);
  await pause(hubKeysRemembered);
  const [one, other] = await keys();
  expect(one).toBe(other);
  expect(before).not.toContain(one);
});
