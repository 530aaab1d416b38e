import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { productionSettings } from '#demo/settings.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(quickFolder, 'vestibule-demo-refused-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('vestibule demo', () => {
  it.each([
    ['DATABASE_URL', 'postgres://vestibule@db.example/vestibule'],
    ['VESTIBULE_DATA', '/var/lib/vestibule'],
    ['PUBLIC_URL', 'https://hub.example.com'],
    ['NODE_ENV', 'production'],
  ])('refuses to run with %s=%s, and makes nothing', async (name, value) => {
    const { code, out, err } = await runVestibule(['demo'], { env: { TMPDIR: folder, [name]: value } });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(new RegExp(`does not run beside the settings of a real portal:\n  ${name} is `));
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses to run in a folder with a configuration file', async () => {
    expect(productionSettings({}, folder)).toEqual([]);
    await writeFile(join(folder, 'vestibule.config.json'), '{}');
    expect(productionSettings({}, folder)).toHaveLength(1);
  });

  it.each(['0', '65535', 'http'])('refuses the port %s', async (port) => {
    const { code, err } = await runVestibule(['demo', '--port', port], { env: {} });
    expect(code).toBe(1);
    expect(err).toContain('--port: must be a number from 1 to 65534');
  });
});
