import { type Brand, customersBrand } from '../brand/brand.ts';
import { KeptSettings } from '../brand/brand-file.ts';
import { readBrand } from '../brand/read-brand.ts';
import { checkSchema } from '../config/check-schema.ts';
import type { Config } from '../config/config.ts';
import { brandsVersion, type CustomerBrand, listBrandVersions, listCustomerBrands } from '../storage/customer-brand.ts';
import type { Database } from '../storage/database.ts';
import type { Brands } from './brands.ts';

type Needs = {
  config: Pick<Config, 'brand' | 'basePath'>;
  sql: Database;
  log: { warn: (about: { customer: string; problems: string[]; err?: unknown }, text: string) => unknown };
};

type Known = { version: string; brand: Brand; hosts: readonly string[] };

/**
 * The brands of the installation and of customers, kept in memory: a page needs no query for them. None of a customer is
 * known before the first `refresh`.
 */
export function createBrands({ config, sql, log }: Needs): Brands {
  const own = config.brand;
  let known: ReadonlyMap<string, Known> = new Map();
  let byHost: ReadonlyMap<string, Brand> = new Map();
  let version: string | null = null;
  let running: Promise<void> | null = null;

  function read({ customerKey, version, settings, logo, logoDark, hosts }: CustomerBrand): Known {
    const problems: string[] = [];
    const images = { logo: fromBase64(logo), logoDark: fromBase64(logoDark) };
    const kept = checkSchema<KeptSettings>(KeptSettings, settings, 'the settings', problems) ?? {};
    const parts = readBrand(kept, images, problems);
    // It was valid when it was set: another release may know other settings, languages and texts.
    if (problems.length > 0)
      log.warn({ customer: customerKey, problems }, 'parts of a customer’s brand are not valid any more and left out');
    return { version, brand: customersBrand(customerKey, parts, own, config.basePath), hosts };
  }

  /** A brand that cannot be read must not keep the others, or the portal, from their work. */
  function readOrNull(row: CustomerBrand): Known | null {
    try {
      return read(row);
    } catch (err) {
      const problems = [`cannot be read (${(err as Error).message})`];
      log.warn({ customer: row.customerKey, problems, err }, 'a customer’s brand cannot be read and is not used');
      return null;
    }
  }

  async function load(): Promise<void> {
    const now = await brandsVersion(sql);
    if (now === version) return;
    const versions = await listBrandVersions(sql);
    const changed = versions.filter(({ customerKey, version }) => known.get(customerKey)?.version !== version);
    const loaded = await listCustomerBrands(
      sql,
      changed.map(({ customerKey }) => customerKey),
    );
    const fresh = new Map(loaded.map((row) => [row.customerKey, readOrNull(row)]));
    const next = versions.flatMap(({ customerKey }) => {
      const one = fresh.has(customerKey) ? fresh.get(customerKey) : known.get(customerKey);
      return one ? [[customerKey, one] as const] : [];
    });
    known = new Map(next);
    byHost = new Map(next.flatMap(([, { brand, hosts }]) => hosts.map((host) => [host, brand] as const)));
    version = now;
  }

  return {
    own,
    ofCustomer: (key) => known.get(key)?.brand ?? null,
    ofHost: (host) => byHost.get(host) ?? null,
    all: () => [own, ...[...known.values()].map(({ brand }) => brand)],
    refresh: () => {
      running ??= load().finally(() => {
        running = null;
      });
      return running;
    },
  };
}

function fromBase64(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text, 'base64');
}
