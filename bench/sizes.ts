import { brotliDecompressSync } from 'node:zlib';
import { encodedBytes } from './encoded-bytes.ts';
import { report } from './figures.ts';
import type { RunningServer } from './servers.ts';

/** What the first page weighed before it had passkeys, in bytes, and what they may add to its script. */
const beforePasskeys = { document: 4811, script: 67_497, mayAdd: 1536 };

/** The transfer size of the first page: the document and the script that it starts with. */
export async function measureSizes({ origin }: RunningServer): Promise<void> {
  const page = await encodedBytes(`${origin}/portal/login`);
  const html = brotliDecompressSync(page).toString();
  const scripts = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map((match) => match[1] as string);
  const sizes = await Promise.all(scripts.map(async (path) => (await encodedBytes(origin + path)).length));
  const whole = sizes.reduce((one, other) => one + other, 0);
  report('first response of /portal/login, brotli', `${page.length} B`, 'at most 5,000 B', page.length <= 5000);
  report(
    `script before the first press (files: ${scripts.length}), brotli`,
    `${whole} B`,
    'at most 66,000 B',
    whole <= 66_000,
  );
  const added = whole - beforePasskeys.script;
  report(
    'the first page since it has passkeys, brotli',
    `document ${beforePasskeys.document} to ${page.length} B, script ${beforePasskeys.script} to ${whole} B`,
    `at most ${beforePasskeys.mayAdd} B of script more`,
    added <= beforePasskeys.mayAdd,
  );
}
