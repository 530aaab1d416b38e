import { spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';

const root = import.meta.dirname;
const sources = ['{web,server,cli,demo,contract,messages}/**/*', 'vite.config.ts', 'package-lock.json'];
const results = [
  'dist/server/vestibule.js',
  'dist/pages/.vite/manifest.json',
  ...['render', 'render-static', 'render-behind'].map((name) => `dist/render/${name}.js`),
];

/** Builds the pages and the server if a source is newer than they are. Throws if that fails. */
export async function buildIfStale(): Promise<void> {
  if (!isStale()) return;
  process.stderr.write('Building the pages and the server …\n');
  // In a process of its own, since the builder sets NODE_ENV.
  const builder = spawn(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => builder.on('error', reject).on('exit', resolve));
  if (code !== 0) throw new Error(`the build failed (exit code ${code})`);
}

function isStale(): boolean {
  const oldest = Math.min(...results.map(timeOf));
  return globSync(sources, { cwd: root, exclude: ['**/*.test.*'] }).some((path) => timeOf(path) > oldest);
}

/** When a file was last changed; the beginning of time if it is not there. */
function timeOf(path: string): number {
  return statSync(`${root}/${path}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// `node build-if-stale.ts`, before `npm start` and `npm run demo`.
if (import.meta.main) {
  const own = /node\/v(\S+)/.exec(process.env.npm_config_user_agent ?? '')?.[1];
  if (own && Number.parseInt(own, 10) < 24)
    process.stderr.write(
      `This machine's Node is ${own}: Vestibule runs on ${process.versions.node}, which npm has put here.\n`,
    );
  await buildIfStale();
}
