import { spawnSync } from 'node:child_process';
import { bringPackages } from '#testing/bring-packages.ts';

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
export async function bringOathtool(): Promise<string | null> {
  return await bringPackages(['oathtool'], answers, whereFrom);
}

function answers(): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}
