import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type Language, languages } from '#contract/languages.ts';
import { type Brand, customersBrand } from '../brand/brand.ts';
import { readBrand } from '../brand/read-brand.ts';
import { buildStalePages } from '../build-pages.ts';
import type { Config } from '../config/config.ts';
import { createBrands } from '../deps/customer-brands.ts';
import { failure } from './failure.ts';
import { loadConfig } from './load-config.ts';
import { printJson, printLine, printWarning } from './print.ts';
import { readBrandFile } from './read-brand-file.ts';
import { withDatabase } from './with-database.ts';

type Flags = { brand?: string; customer?: string; language: Language; json?: true };

/** `vestibule brand preview` */
export function addBrandCommands(program: Command): void {
  program
    .command('brand')
    .description('what visitors see of the installation and of customers')
    .command('preview')
    .argument('<picture>', 'the PNG file to write')
    .description('write one picture of all screens and emails in a brand, light and dark; needs Chromium')
    .option('--customer <key>', 'in the brand of a customer (default: that of the installation)')
    .addOption(new Option('--brand <file>', 'in the brand of a file, before it is set').conflicts('customer'))
    .addOption(new Option('--language <language>', 'of the texts').choices(languages).default('en'))
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nChromium is looked for on the PATH; the environment may name another in CHROMIUM.')
    .action(async (picture: string, flags: Flags) => {
      const config = loadConfig();
      const brand = await brandFor(config, flags);
      // Loaded only for this.
      const [{ findChromium }, { loadBuiltPages }, { brandPreviews }, { previewSheet }, { takePicture }] =
        await Promise.all([
          import('./find-chromium.ts'),
          import('../http/built-pages.ts'),
          import('./brand-previews.ts'),
          import('./preview-sheet.ts'),
          import('./take-picture.ts'),
        ]);
      const chromium = findChromium(process.env);
      if (!chromium)
        throw failure(
          'A preview needs Chromium: install it (Debian: apt-get install chromium) or set CHROMIUM to its path.',
        );
      await buildStalePages();
      const previews = brandPreviews(config, brand, await loadBuiltPages(config), flags.language);
      const path = resolve(picture);
      await takePicture(chromium, previewSheet(previews, brand, brand.branding.name), path);
      if (flags.json) printJson({ picture: path, pages: previews.length });
      else printLine(`${previews.length} pages and emails, light and dark: ${path}`);
    });
}

async function brandFor(config: Config, { brand: file, customer }: Flags): Promise<Brand> {
  if (file !== undefined) {
    const { settings, logo, logoDark } = readBrandFile(file, config);
    const images = { logo: bytesOf(logo), logoDark: bytesOf(logoDark) };
    return customersBrand('preview', readBrand(settings, images, []), config.brand, config.basePath);
  }
  if (customer === undefined) return config.brand;
  return await withDatabase(async (sql) => {
    const brands = createBrands({ config, sql, log: { warn: (_about, text) => printWarning(text) } });
    await brands.refresh();
    const brand = brands.ofCustomer(customer);
    if (!brand) throw failure(`Customer ${customer} has no brand of its own.`);
    return brand;
  });
}

function bytesOf(base64: string | null): Buffer | null {
  return base64 === null ? null : Buffer.from(base64, 'base64');
}
