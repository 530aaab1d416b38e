import { spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const sources = ['web/**/*', 'messages/*', 'contract/*', 'vite.config.ts', 'package-lock.json'];
const results = [
  'build/render/render.js',
  'build/render/render-static.js',
  'build/render/render-account.js',
  'build/pages/.vite/manifest.json',
];

/** Builds the pages if a source is newer than the build. Without sources or builder, keeps the existing build. */
export async function buildStalePages(): Promise<void> {
  if (!isStale() || !existsSync(new URL('node_modules/vite/', root))) return;
  await new Promise<void>((resolve, reject) => {
    const builder = spawn('npm', ['run', '--silent', 'build'], {
      cwd: fileURLToPath(root),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    builder.on('error', reject);
    builder.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`building the pages failed (exit code ${code})`)),
    );
  });
}

function isStale(): boolean {
  const built = results.map((path) => timeOf(path));
  if (built.includes(null)) return true;
  const oldest = Math.min(...(built as number[]));
  return globSync(sources, { cwd: fileURLToPath(root) }).some((path) => (timeOf(path) ?? 0) > oldest);
}

function timeOf(path: string): number | null {
  return statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs ?? null;
}
