import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const program = 'oathtool';

/** Computes codes of an authenticator app independently of the product. Throws if oathtool is missing. */
export function runOathtool(args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
  if (error) throw new Error(`${whereFrom} (${error.message})`);
  if (status !== 0) throw new Error(`oathtool: ${stderr}`);
  return stdout;
}

const whereFrom =
  'The browser tests need oathtool: install it (Debian: apt-get install oathtool; macOS: brew install oath-toolkit).';

/** Null if oathtool is present or could be installed; otherwise a sentence that says how to install it. */
export function bringOathtool(): string | null {
  if (answers()) return null;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return whereFrom;
  try {
    const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update'], options);
    execFileSync('apt-get', ['install', '--yes', '--no-install-recommends', 'oathtool'], options);
  } catch {
    return 'The browser tests need oathtool, and apt-get could not install it: put one on the PATH.';
  }
  return answers() ? null : 'oathtool was installed but does not start: put another one on the PATH.';
}

function answers(): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

if (import.meta.main) {
  const complaint = bringOathtool();
  if (complaint) {
    console.error(complaint);
    process.exitCode = 1;
  }
}
