import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Earlier versions have a known vulnerability that would affect us. */
const least: Record<string, string> = {
  '@fastify/reply-from': '12.6.2',
  '@xmldom/xmldom': '0.8.13',
  fastify: '5.12.1',
  nodemailer: '9.1.1',
  'xml-crypto': '6.0.1',
};

type Sbom = {
  bomFormat: string;
  components: { name: string; version: string; scope: string; hashes?: { alg: string }[] }[];
};
type Lock = { packages: Record<string, { version?: string; integrity?: string; link?: boolean }> };

const root = new URL('..', import.meta.url);
const read = <T>(file: string) => JSON.parse(readFileSync(new URL(file, root), 'utf8')) as T;
const { packages } = read<Lock>('package-lock.json');
const manifest = read<Record<'dependencies' | 'devDependencies', Record<string, string>>>('package.json');
const locked = Object.entries(packages).map(([path, { version = '' }]) => ({
  name: path.split('node_modules/').at(-1) ?? '',
  version,
}));

function isAtLeast(version: string, than: string): boolean {
  const numbers = (text: string) => text.split('-', 1)[0]?.split('.').map(Number) ?? [];
  const [one, other] = [numbers(version), numbers(than)];
  const at = one.findIndex((part, index) => part !== other[index]);
  return at < 0 || (one[at] ?? 0) > (other[at] ?? 0);
}

it('no locked package, at any depth, is older than the fix of a vulnerability that affects us', () => {
  expect(locked.map(({ name }) => name)).toContain('fastify');
  const old = locked.filter(({ name, version }) => least[name] !== undefined && !isAtLeast(version, least[name]));
  expect(old).toEqual([]);
});

it.each([
  ['the product and its tests', packages, 400],
  ['PostgreSQL in other versions', read<Lock>('test/support/postgresql-versions/package-lock.json').packages, 2],
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

it('versions are compared part by part', () => {
  expect(isAtLeast('5.12.1', '5.12.1')).toBe(true);
  expect(isAtLeast('5.12.8', '5.12.1')).toBe(true);
  expect(isAtLeast('10.0.0', '9.1.1')).toBe(true);
  expect(isAtLeast('5.9.9', '5.12.1')).toBe(false);
  expect(isAtLeast('0.8.2', '0.8.13')).toBe(false);
});
