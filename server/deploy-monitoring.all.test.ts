import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import en from '#messages/en.json' with { type: 'json' };
import { bringPackages } from '#test/support/bring-packages.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const run = promisify(execFile);
const deployed = (path: string) => fileURLToPath(new URL(`../deploy/${path}`, import.meta.url));
const promtool = '/usr/bin/promtool';

const metricsToken = 'a-token-of-the-monitoring';
const portal = portalOfFile({ config: { metricsToken } });
let folder: string;
beforeAll(async () => {
  await bringPackages(['prometheus'], () => existsSync(promtool));
  folder = await mkdtemp(join(tmpdir(), 'vestibule-monitoring-'));
  for (const name of ['alerts.yaml', 'alerts.test.yaml', 'prometheus.yaml'])
    await copyFile(deployed(`prometheus/${name}`), join(folder, name));
  await writeFile(join(folder, 'metrics-token'), metricsToken);
}, 180_000);
afterAll(() => rm(folder, { recursive: true }));

async function exprsOfAlerts(): Promise<string[]> {
  const { groups } = parse(await readFile(deployed('prometheus/alerts.yaml'), 'utf8')) as {
    groups: { rules: { expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

it('the alerts are valid, and do in promtool’s tests what they say', async () => {
  const { stdout } = await run(promtool, ['check', 'config', 'prometheus.yaml'], { cwd: folder });
  expect(stdout).toContain('rules found');
  await run(promtool, ['test', 'rules', 'alerts.test.yaml'], { cwd: folder });
});

it('every metric of the alerts is one of /metrics', async () => {
  const { body } = await portal.send({ url: '/metrics', headers: { authorization: `Bearer ${metricsToken}` } });
  const types = [...body.matchAll(/^# TYPE (\w+) (\w+)/gm)];
  const names = types.flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name],
  );
  const used = (await exprsOfAlerts()).join().match(/\bvestibule_\w+/g) ?? [];
  expect(used.length).toBeGreaterThan(10);
  for (const name of used) expect(names).toContain(name);
});

it('the routes and outcomes that the alerts select exist', async () => {
  const exprs = (await exprsOfAlerts()).join('\n');
  const selected = (label: string) =>
    [...exprs.matchAll(new RegExp(`${label}(?:=|!=|=~)"([^"]+)"`, 'g'))].flatMap(([, values = '']) =>
      values.split('|'),
    );
  let app = '';
  for await (const file of glob('*/add-*.ts', { cwd: import.meta.dirname }))
    app += await readFile(join(import.meta.dirname, file), 'utf8');
  const routes = selected('route');
  expect(routes.length).toBeGreaterThan(4);
  for (const route of routes) expect(app).toMatch(new RegExp(`\\('${route}'[,)]`));
  const outcomes = selected('outcome').filter((outcome) => outcome !== 'throttled-.*');
  expect(outcomes.length).toBeGreaterThan(4);
  for (const outcome of outcomes)
    expect([`reason-${outcome}`, `reason-sso-${outcome}`].filter((key) => key in en)).not.toEqual([]);
});
