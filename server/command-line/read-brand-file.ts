import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BrandFile } from '../brand/brand-file.ts';
import { readBrand } from '../brand/read-brand.ts';
import { readImages } from '../brand/read-images.ts';
import { checkSchema } from '../config/check-schema.ts';
import type { Config } from '../config/config.ts';
import { limits } from '../limits.ts';
import type { KeptBrand } from '../storage/customer-brand.ts';
import { failure } from './failure.ts';

/**
 * Reads the file of a customer's brand, with the images that it names, relative to it. Throws a failure with every
 * problem, each naming its setting.
 */
export function readBrandFile(path: string, { hosts: ownHosts }: Pick<Config, 'hosts'>): KeptBrand {
  const problems: string[] = [];
  const file = checkSchema<BrandFile>(BrandFile, jsonOf(path), 'the file', problems) ?? {};
  const { $schema: _schema, logo, logoDark, hosts: given = [], ...settings } = file;
  const images = readImages({ ...(logo && { logo }), ...(logoDark && { logoDark }) }, dirname(path), problems);
  const read = readBrand(settings, images, problems);
  const hosts = [...new Set(given.map((host) => host.toLowerCase()))];
  for (const host of hosts) if (ownHosts.includes(host)) problems.push(`hosts: ${host} is the portal's own`);
  if (problems.length > 0) throw failure(problems.join('\n'));
  // An SVG is kept as it was written anew.
  const kept = (image: { bytes: Buffer } | null) => image?.bytes.toString('base64') ?? null;
  return { settings, logo: kept(read.logo), logoDark: kept(read.logoDark), hosts };
}

function jsonOf(path: string): unknown {
  try {
    if (statSync(path).size > limits.brandFileBytes)
      throw failure(`${path}: is larger than ${limits.brandFileBytes / 1024} KB`);
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw failure(`${path}: not valid JSON (${error.message})`);
    const { code } = error as NodeJS.ErrnoException;
    throw code ? failure(`${path}: cannot be read (${code})`) : error;
  }
}
