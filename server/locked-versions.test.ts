import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

type Sbom = {
  bomFormat: string;
  components: { name: string; version: string; scope: string; hashes?: { alg: string }[] }[];
};
type Lock = { packages: Record<string, { version?: string; integrity?: string; link?: boolean }> };

const root = new URL('..', import.meta.url);
const read = <T>(file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8')) as T;
const { packages } = read<Lock>('package-lock.json');
const manifest = read<Record<'dependencies' | 'devDependencies', Record<string, string>>>('package.json');
it.each([
  ['the product and its tests', packages, 400],
  ['PostgreSQL in other versions', read<Lock>('test/support/postgresql-versions/package-lock.json').packages, 2],
  ['what the bench compares with', read<Lock>('bench/peers/package-lock.json').packages, 2],
])('every locked package is pinned by its integrity, and comes from nowhere but the registry: %s', (_, all, few) => {
  const others = Object.entries(all).filter(([path]) => path !== '');
  expect(others.length).toBeGreaterThan(few);
  expect(others.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity))).toEqual([]);
  expect(others.filter(([, locked]) => locked.link || 'resolved' in locked)).toEqual([]);
});

it('the SBOM lists every package of the product with its hash, and tells those of tests and tools apart', async () => {
  // npm 11 loses packages of both kinds with `--omit dev`.
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, maxBuffer: 2 ** 24 });
  const { bomFormat, components } = JSON.parse(stdout) as Sbom;
  expect(bomFormat).toBe('CycloneDX');
  const scopes = new Map(components.map(({ name, version, scope }) => [`${name}@${version}`, scope]));
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect([name, scopes.get(`${name}@${version}`)]).toEqual([name, 'required']);
  expect(scopes.get(`vite@${manifest.devDependencies.vite}`)).toBe('optional');
  expect(components.filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([]);
});
