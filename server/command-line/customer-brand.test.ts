import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type CuttableDatabase, cuttableDatabase } from '#testing/cuttable-database.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { svgForTest } from '#testing/logo-for-test.ts';
import { configFrom } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { quickFolder } from '#testing/quick-folder.ts';
import { runVestibule } from '#testing/run-vestibule.ts';
import { addCustomer } from '../accounts/add-customer.ts';
import { setCustomerBrand } from '../accounts/set-customer-brand.ts';
import { limits } from '../limits.ts';
import { mailKinds } from '../storage/mail-kinds.ts';
import { startWorkers } from '../upkeep/workers.ts';

const portal = portalOfFile();
let wire: CuttableDatabase;
let folder: string;
beforeAll(async () => {
  wire = await cuttableDatabase(portal.database);
  folder = await mkdtemp(join(quickFolder, 'vestibule-brand-'));
  await writeFile(join(folder, 'logo.svg'), svgForTest);
  await writeFile(join(folder, 'evil.svg'), svgForTest.replace('<path', '<script>alert(1)</script><path'));
  await writeFile(join(folder, 'logo.png'), 'this is text');
});
afterAll(async () => {
  await wire.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await emptyDatabase(portal);
  for (const key of ['acme', 'globex'])
    await addCustomer(portal.sql, { key, name: key, allowedNetworks: [], twoFactor: 'off' }, new Date());
  await portal.deps.brands.refresh();
});

const env = (more: Record<string, string> = {}) => ({
  DATABASE_URL: wire.url,
  VESTIBULE_SECRET: 'x'.repeat(43),
  VESTIBULE_DATA: folder,
  VESTIBULE_CONFIG: '',
  ...more,
});
const vestibule = (args: string[], more?: Record<string, string>) => runVestibule(args, { env: env(more) });

async function setBrand(key: string, brand: unknown, ...flags: string[]) {
  const file = join(folder, 'brand.json');
  await writeFile(file, typeof brand === 'string' ? brand : JSON.stringify(brand));
  return await vestibule(['customer', 'brand', key, file, ...flags]);
}

it('BR-05 customer brand sets, shows and removes a brand, and records it', async () => {
  const set = await setBrand('acme', { name: 'Acme', logo: 'logo.svg', hosts: ['Login.Acme.test'] });
  expect(set).toMatchObject({ code: 0, out: 'Brand of customer acme: name, logo, login.acme.test\n' });
  expect(JSON.parse((await vestibule(['customer', 'brand', 'acme', '--json'])).out)).toEqual({
    name: 'Acme',
    logo: true,
    logoDark: false,
    hosts: ['login.acme.test'],
  });
  expect((await vestibule(['customer', 'brand', 'acme', '--remove'])).out).toBe(
    'Customer acme now has no brand of its own.\n',
  );
  const steps = await portal.sql`select steps from audit_event where event = 'customer-changed' order by id`;
  expect(steps.map(({ steps: [one] }) => one)).toEqual([
    { step: 'brand', outcome: 'name, logo, login.acme.test' },
    { step: 'brand', outcome: 'removed' },
  ]);
  // Its host is free again, and goes with its customer.
  expect((await setBrand('globex', { hosts: ['login.acme.test'] })).code).toBe(0);
  await vestibule(['customer', 'remove', 'globex', '--yes']);
  expect((await setBrand('acme', { hosts: ['login.acme.test'] })).code).toBe(0);
});

it.each([
  ['a logo that is no image', { logo: 'logo.png' }, 'logo: is not an image'],
  ['an SVG with a script', { logo: 'evil.svg' }, 'logo: must not have <script>'],
  ['a logo that is not there', { logo: 'none.svg' }, 'logo: none.svg cannot be read (ENOENT)'],
  ['a colour that is none', { accentColour: 'yellow' }, 'accentColour: must match pattern'],
  ['a link that is a script', { links: { support: 'javascript:alert(1)' } }, 'links.support: must match pattern'],
  ['an unknown placeholder', { texts: { en: { tagline: '{x}' } } }, 'texts.en.tagline: has an unknown placeholder'],
  ['markup', { texts: { en: { tagline: '<b>' } } }, 'texts.en.tagline: must be plain text'],
  ['an unknown language', { texts: { fr: { tagline: 'a' } } }, 'texts.fr: is not a known setting'],
  ['a text too long', { texts: { en: { tagline: 'a'.repeat(301) } } }, 'texts.en.tagline: must not have more than 300'],
  ['a name of two lines', { name: 'Acme\nLtd.' }, 'name: must match pattern'],
  ['an unknown setting', { colour: '#fff' }, 'colour: is not a known setting'],
  ['a host that is an address', { hosts: ['https://acme.test'] }, 'hosts.0: must match pattern'],
  ['the portal’s own host', { hosts: ['localhost:8080'] }, "hosts: localhost:8080 is the portal's own"],
  ['no JSON', '{', 'not valid JSON'],
  ['a list', [], 'the file: must be object'],
])('BR-03 BR-04 BR-05 %s is refused by its field, and nothing changes', async (_name, brand, words) => {
  await setBrand('acme', { name: 'Before' });
  const result = await setBrand('acme', brand);
  expect(result.code).toBe(1);
  expect(result.err).toContain(words);
  expect((await vestibule(['customer', 'brand', 'acme', '--json'])).out).toContain('"Before"');
});

it('BR-05 a host belongs to one customer, also when two commands run at once', async () => {
  await setBrand('acme', { hosts: ['login.acme.test'] });
  expect(await setBrand('globex', { name: 'Globex', hosts: ['login.acme.test'] })).toMatchObject({
    code: 1,
    err: 'hosts: login.acme.test belongs to customer acme\n',
  });
  expect((await vestibule(['customer', 'brand', 'globex'])).out).toBe('Customer globex has no brand.\n');
  expect((await vestibule(['customer', 'brand', 'nobody'])).code).toBe(1);
  const both = ['acme', 'globex'].map((key) =>
    setCustomerBrand(portal.sql, key, { settings: {}, logo: null, logoDark: null, hosts: ['new.test'] }, new Date()),
  );
  expect((await Promise.all(both)).map(({ kind }) => kind).sort()).toEqual(['hostTaken', 'set']);
});

it('every instance uses a brand within a second of the command', async () => {
  const workers = startWorkers(portal.deps);
  try {
    await setBrand('acme', { name: 'Acme at once' });
    const shown = async () => (await portal.send({ url: '/portal/login?customer=acme' })).body.includes('Acme at once');
    await expect.poll(shown, { timeout: 10_000 }).toBe(true);
  } finally {
    await workers.stop();
  }
  expect(limits.brandsLookEvery).toBeLessThanOrEqual(500);
});

it('a brand whose text a later release does not know keeps the rest, and doctor names it', async () => {
  await setBrand('acme', { name: 'Acme', texts: { en: { tagline: 'Power' } } });
  await portal.sql`update customer_brand set settings = jsonb_set(settings, '{texts,en,gone}', '"x"'),
    version = nextval('customer_brand_version_seq')`;
  await portal.deps.brands.refresh();
  expect((await portal.send({ url: '/portal/login?customer=acme' })).body).toContain('Power');
  expect(portal.logs()).toContain('texts.en.gone: is not the key of a text');
  expect((await vestibule(['doctor'])).out).toContain('warning – brands – acme: texts.en.gone');
});

it('the same settings of the installation are refused at start', () => {
  const config = join(folder, 'vestibule.config.json');
  const start = async (brand: object) => {
    await writeFile(config, JSON.stringify(brand));
    return configFrom({ VESTIBULE_CONFIG: config });
  };
  return Promise.all([
    expect(start({ logo: join(folder, 'evil.svg') })).rejects.toThrow('logo: must not have <script>'),
  ]);
});

it('a preview says when there is no Chromium, and writes the picture that one makes', async () => {
  const picture = join(folder, 'preview.png');
  const none = await vestibule(['brand', 'preview', picture], { CHROMIUM: join(folder, 'none') });
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining('A preview needs Chromium: install it') });
  // Stands for a browser: it copies what it would show.
  const chromium = join(folder, 'chromium');
  await writeFile(
    chromium,
    [
      '#!/bin/sh',
      'for a; do case "$a" in',
      '  --screenshot=*) out=$(echo "$a" | cut -d= -f2);;',
      '  file:*) url=$(echo "$a" | cut -c8-);;',
      'esac; done',
      'cat "$(dirname "$url")"/*.html > "$out"',
    ].join('\n'),
  );
  await chmod(chromium, 0o755);
  await setBrand('acme', { name: 'Acme', logo: 'logo.svg' });
  const done = await vestibule(['brand', 'preview', picture, '--customer', 'acme'], { CHROMIUM: chromium });
  expect(done.err).toBe('');
  const shown = await readFile(picture, 'utf8');
  expect(shown).toContain('Acme: screens, dark');
  expect(shown.match(/<iframe /g)).toHaveLength(2 * (2 * 19 + mailKinds.length));
  expect(shown.match(/<script|http-equiv="refresh"|prefers-color-scheme/g)).toBeNull();
});
