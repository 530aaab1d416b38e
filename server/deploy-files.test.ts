import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bringPackages } from '#test/support/bring-packages.ts';
import { configOfDeployment, readImage } from '#test/support/deployment-for-test.ts';
import { limits } from './limits.ts';

const run = promisify(execFile);
const path = (name: string) => fileURLToPath(new URL(`../deploy/${name}`, import.meta.url));
const read = (name: string) => readFile(path(name), 'utf8');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestibule-deploy-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the systemd unit', () => {
  let unit: string;
  let values: (name: string) => string[];
  beforeAll(async () => {
    const text = await read('systemd/vestibule.service');
    values = (name) => [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
    unit = join(folder, 'vestibule.service');
    await writeFile(unit, text.replace('/usr/bin/node', process.execPath));
    await bringPackages(['systemd'], () => existsSync('/usr/bin/systemd-analyze'));
  }, 180_000);

  it('is valid', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).not.toContain('vestibule.service');
  });

  it('is exposed no more than 1.5 of 10, by systemd’s own count', async () => {
    await run('systemd-analyze', ['security', '--offline=yes', '--threshold=15', unit]);
  });

  it('runs the same command as the image', async () => {
    const { command } = await readImage();
    expect(values('ExecStart')).toEqual([`/usr/bin/${command.join(' ')}`]);
    expect(Number(values('TimeoutStopSec')[0]) * 1000).toBeGreaterThan(limits.stopWithin);
  });

  it('gives the portal a configuration that it accepts, from credentials that it loads', async () => {
    const env = Object.fromEntries(values('Environment').map((pair) => pair.split('=') as [string, string]));
    const loaded = values('LoadCredential').map((pair) => pair.split(':')[0]);
    const files = Object.entries(env).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([, file]) => file.replace('%d/', '')).sort()).toEqual(loaded.sort());
    const here = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('%d', '/run')]));
    const result = await configOfDeployment({ ...here, PUBLIC_URL: 'https://hub.example.com' }, '{}');
    expect(result).toMatchObject({ kind: 'ok', config: { databaseUrl: expect.any(String), smtp: expect.anything() } });
  });
});
