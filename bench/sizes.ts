import { brotliDecompressSync } from 'node:zlib';
import { encodedBytes } from './encoded-bytes.ts';
import { report } from './figures.ts';
import type { RunningServer } from './servers.ts';

/** The transfer size of the first page: the document and the script that it starts with. */
export async function measureSizes({ origin }: RunningServer): Promise<void> {
  const page = await encodedBytes(`${origin}/portal/login`);
  const html = brotliDecompressSync(page).toString();
  const scripts = [...html.matchAll(/src="([^"]+\.js)"/g)].map((match) => match[1] as string);
  const sizes = await Promise.all(scripts.map(async (path) => (await encodedBytes(origin + path)).length));
  const whole = sizes.reduce((one, other) => one + other, 0);
  report('first response of /portal/login, brotli', `${page.length} B`, 'at most 7,000 B', page.length <= 7000);
  report(
    `script before the first press (files: ${scripts.length}), brotli`,
    `${whole} B`,
    'at most 70,000 B',
    whole <= 70_000,
  );
}
