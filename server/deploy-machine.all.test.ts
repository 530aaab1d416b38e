import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bringPackages } from '#test/support/bring-packages.ts';

const run = promisify(execFile);
const deployed = (name: string) => fileURLToPath(new URL(`../deploy/${name}`, import.meta.url));
const origin = 'https://hub.example.com';
const address = '10.213.0.2';
const password = 'correct horse battery staple';

describe('a Debian with nginx, PostgreSQL and two instances by the unit, as deploy/try-machine.sh makes it', () => {
  let script: ChildProcess;
  let output = '';
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    await bringPackages(
      ['debootstrap', 'systemd-container'],
      () => existsSync('/usr/sbin/debootstrap') && existsSync('/usr/bin/systemd-nspawn'),
    );
    script = spawn(deployed('try-machine.sh'));
    for (const stream of [script.stdout, script.stderr])
      stream?.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    while (!output.endsWith('ready\n')) {
      if (script.exitCode !== null) throw new Error(`the machine was not made: ${output}`);
      await pause(100);
    }
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', `--host-resolver-rules=MAP hub.example.com ${address}`],
    });
    page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  }, 900_000);
  afterAll(async () => {
    await browser?.close();
    script.kill('SIGTERM');
    if (script.exitCode === null) await once(script, 'exit');
  }, 60_000);

  /** The id of the machine's first process; '' while there is none. */
  async function initOfMachine(): Promise<string> {
    const childOf = async (...args: string[]) => (await run('pgrep', ['--parent', ...args])).stdout.trim();
    return await childOf(String(script.pid), '--full', 'systemd-nspawn')
      .then((nspawn) => childOf(nspawn))
      .catch(() => '');
  }

  /** Runs a command in the machine, as root; returns what it printed. */
  async function inMachine(...command: string[]): Promise<string> {
    const target = await initOfMachine();
    const { stdout } = await run('nsenter', ['--target', target, '--all', '--root', '--wd', '--', ...command]);
    return stdout.trim();
  }

  const propertyOf = (instance: string, name: string) =>
    inMachine('systemctl', 'show', '--value', '--property', name, `vestibule@${instance}`);

  /** Signs in as a browser without JavaScript; returns the status. */
  async function signIn(): Promise<number> {
    const body = new URLSearchParams({ username: 'bob', password }).toString();
    const headers = { host: 'hub.example.com', 'content-type': 'application/x-www-form-urlencoded' };
    const options = { host: address, path: '/portal/performlogin', method: 'POST', headers, rejectUnauthorized: false };
    const [answer] = await once(request(options).end(body), 'response');
    answer.resume();
    return answer.statusCode;
  }

  it('an instance has no rights, and systemd counts at most 1.5 of 10 points of exposure', async () => {
    const status = await inMachine('cat', `/proc/${await propertyOf('8080', 'MainPID')}/status`);
    expect(status).not.toMatch(/^[UG]id:.*\b0\b/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    await inMachine('systemd-analyze', 'security', '--threshold=15', 'vestibule@8080');
  });

  it('somebody signs in with Chromium, through nginx, and reaches the hub', async () => {
    await page.goto(`${origin}/reports`);
    await page.getByLabel('Username').fill('alice');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('The hub, for alice').waitFor();
    expect(page.url()).toBe(`${origin}/reports`);
  });

  /** What four people get who sign in again and again for as long as something is done. */
  async function whilePeopleSignIn(something: () => Promise<unknown>): Promise<number[]> {
    const statuses: number[] = [];
    let isOver = false;
    const people = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push(await signIn());
    });
    await pause(1000);
    await something();
    isOver = true;
    await Promise.all(people);
    return statuses;
  }

  it('both instances are restarted, one after the other, while people sign in: nothing is lost', async () => {
    const statuses = await whilePeopleSignIn(async () => {
      for (const port of ['8080', '8081']) await inMachine('systemctl', 'restart', `vestibule@${port}`);
    });
    expect(new Set(statuses)).toEqual(new Set([303]));
  }, 60_000);

  it('an instance is killed while people sign in: what it worked on gets 502, and it comes back', async () => {
    const statuses = await whilePeopleSignIn(async () => {
      await inMachine('systemctl', 'kill', '--signal=KILL', 'vestibule@8081');
      while ((await propertyOf('8081', 'NRestarts')) !== '1' || (await propertyOf('8081', 'ActiveState')) !== 'active')
        await pause(200);
    });
    const lost = statuses.filter((status) => status !== 303);
    expect(lost.filter((status) => status !== 502)).toEqual([]);
    expect(lost.length).toBeLessThanOrEqual(4);
    expect(statuses.length).toBeGreaterThan(20);
  }, 60_000);

  it('the session is there after a reboot, at both instances', async () => {
    const before = await initOfMachine();
    await inMachine('systemctl', 'reboot');
    while ([before, ''].includes(await initOfMachine())) await pause(100);
    while ((await inMachine('systemctl', 'is-system-running').catch(() => '')) !== 'running') await pause(200);
    await page.reload();
    await page.getByText('The hub, for alice').waitFor();
    const cookies = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = ['Host: hub.example.com', 'X-Forwarded-For: 192.0.2.1', `Cookie: ${cookies}`];
    for (const port of ['8080', '8081']) {
      const session = `http://127.0.0.1:${port}/portal/session`;
      const args = headers.flatMap((header) => ['--header', header]);
      expect(await inMachine('curl', '--silent', '--include', ...args, session)).toMatch(
        /^HTTP\/1.1 200 [\s\S]*x-vestibule-user: alice/i,
      );
    }
  }, 120_000);
});
