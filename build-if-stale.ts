import { spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';

const root = import.meta.dirname;
const tools = ['vite.config.ts', 'package-lock.json'];

/** What is built from what. Tests run the server from its sources, and need the pages alone. */
const parts = {
  pages: {
    sources: ['web/**/*', 'messages/*', 'contract/*', ...tools],
    results: [
      ...['render', 'render-static', 'render-account'].map((name) => `dist/render/${name}.js`),
      'dist/pages/.vite/manifest.json',
    ],
  },
  server: {
    sources: ['server/**/*', 'cli/*', 'demo/**/*', 'messages/*', 'contract/*', ...tools],
    results: ['dist/server/vestibule.js'],
  },
};

/** Builds the parts whose sources are newer. Throws if that fails. */
export async function buildIfStale(wanted: (keyof typeof parts)[]): Promise<void> {
  if (!wanted.some(isStale)) return;
  // In a process of its own, since the builder sets NODE_ENV.
  const builder = spawn(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => builder.on('error', reject).on('exit', resolve));
  if (code !== 0) throw new Error(`the build failed (exit code ${code})`);
}

function isStale(part: keyof typeof parts): boolean {
  const { sources, results } = parts[part];
  const oldest = Math.min(...results.map(timeOf));
  return globSync(sources, { cwd: root, exclude: ['**/*.test.*'] }).some((path) => timeOf(path) > oldest);
}

/** When a file was last changed; the beginning of time if it is not there. */
function timeOf(path: string): number {
  return statSync(`${root}/${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// `node build-if-stale.ts`, before `npm start` and `npm run demo`.
if (import.meta.main) {
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const own = /node\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '')?.[1];
  if (own && Number.parseInt(own, 10) < 24)
    say(`This machine's Node is ${own}: Vestibule runs on ${process.versions.node}, which npm has put here.`);
  const both = ['pages', 'server'] as const;
  if (both.some(isStale)) say('Building the pages and the server …');
  await buildIfStale([...both]);
}
