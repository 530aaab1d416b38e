import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { customersBrand } from '#server/brand/brand.ts';
import { readBrand } from '#server/brand/read-brand.ts';
import { readConfig } from '#server/config/config.ts';
import { loadBuiltPages } from '#server/http/built-pages.ts';
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

const logo = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 30"><path fill="${colour}" d="M15 2a13 13 0 1 1 0 26a13 13 0 0 1 0-26zM40 5h8l10 20h-6l-2-4h-12l-2 4h-6zM64 5h18v6h-12v8h12v6h-18zM88 5h6v20h-6z"/></svg>`;

/** What a brand adds to the first page: logos for day and night, name, colour, links and a text. */
export async function measureBrand(): Promise<void> {
  const read = readConfig({});
  if (read.kind === 'refused') throw new Error(read.problems.join('; '));
  const { config } = read;
  const images = { logo: Buffer.from(logo('#123')), logoDark: Buffer.from(logo('#fed')) };
  const links = { support: 'mailto:help@acme.example', imprint: 'https://acme.example/imprint' };
  const texts = { en: { tagline: 'Power for everyone' } };
  const parts = readBrand({ name: 'Acme Energy', accentColour: '#ffcc00', links, texts }, images, []);
  const built = await loadBuiltPages(config);
  const [own, branded] = [config.brand, customersBrand('acme', parts, config.brand, config.basePath)].map((brand) => {
    const html = built.ofBrand(brand).render({
      language: 'en',
      url: `${config.basePath}/login${brand.key ? `?customer=${brand.key}` : ''}`,
      branding: brand.branding,
      rules: config.destinationRules,
      passwordPolicy: config.passwordPolicy,
      typedUsername: '',
      reference: null,
      serverPage: null,
    });
    return {
      bytes: brotliCompressSync(html).length,
      loaded: html.match(/ (?:src|href|srcSet)="\/[^"]+\.\w+"/g)?.length ?? 0,
    };
  }) as [Measured, Measured];
  const more = branded.bytes - own.bytes;
  report('a brand on the first page, brotli', `${more} B`, 'at most 512 B', more <= 512);
  const requests = branded.loaded - own.loaded;
  report('requests that a brand adds', String(requests), 'none', requests === 0);
}

type Measured = { bytes: number; loaded: number };
