import { beforeEach, expect, it, vi } from 'vitest';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { addCustomer } from '../accounts/add-customer.ts';
import { setCustomerBrand } from '../accounts/set-customer-brand.ts';
import { createBrands } from './customer-brands.ts';

vi.mock(import('../brand/read-brand.ts'), async (original) => {
  const { readBrand } = await original();
  const read: typeof readBrand = (settings, ...rest) => {
    if (settings.name === 'Broken') throw new Error('a mistake of ours');
    return readBrand(settings, ...rest);
  };
  return { readBrand: read };
});

const portal = portalOfFile();
const logged: { customer: string; problems: string[] }[] = [];
const brandsHere = () => createBrands({ ...portal.deps, log: { warn: (about) => logged.push(about) } });

beforeEach(async () => {
  await emptyDatabase(portal);
  logged.length = 0;
  for (const key of ['acme', 'globex', 'initech'])
    await addCustomer(portal.sql, { key, name: key, allowedNetworks: [], twoFactor: 'off' }, new Date());
});

/** As a later release may have kept it. */
const keep = (key: string, settings: Record<string, unknown>, hosts: string[] = []) =>
  setCustomerBrand(portal.sql, key, { settings, logo: null, logoDark: null, hosts }, new Date());

it('what another release has kept and this one does not know is left out and named; the rest and others are used', async () => {
  await keep('acme', { name: 'Acme', texts: { fr: { tagline: 'Du courant' }, en: { tagline: 'Power' } } });
  await keep('globex', { name: 'Globex', accentColour: 'oklch(50% 0.1 200)', shape: 'round' });
  await keep('initech', { name: 'Initech', accentColour: '#123456' });
  const brands = brandsHere();
  await brands.refresh();
  expect(brands.ofCustomer('acme')).toMatchObject({ branding: { name: 'Acme' }, texts: { en: { tagline: 'Power' } } });
  expect(brands.ofCustomer('acme')?.texts).not.toHaveProperty('fr');
  expect(brands.ofCustomer('globex')).toMatchObject({ branding: { name: 'Globex' }, accentColour: null });
  expect(brands.ofCustomer('initech')).toMatchObject({ branding: { name: 'Initech' }, accentColour: '#123456' });
  expect(logged).toEqual([
    { customer: 'acme', problems: ['texts.fr: is not a known setting'] },
    { customer: 'globex', problems: ['shape: is not a known setting', expect.stringMatching(/^accentColour: /)] },
  ]);
});

it('a customer whose brand cannot be read has none, and others theirs', async () => {
  await keep('acme', { name: 'Acme' }, ['login.acme.test']);
  const brands = brandsHere();
  await brands.refresh();
  expect(brands.ofHost('login.acme.test')?.key).toBe('acme');
  await keep('acme', { name: 'Broken' }, ['login.acme.test']);
  await keep('globex', { name: 'Globex' });
  await brands.refresh();
  expect([brands.ofCustomer('acme'), brands.ofHost('login.acme.test')]).toEqual([null, null]);
  expect(brands.ofCustomer('globex')?.branding.name).toBe('Globex');
  expect(logged).toMatchObject([{ customer: 'acme', problems: ['cannot be read (a mistake of ours)'] }]);
  await keep('acme', { name: 'Acme again' });
  await brands.refresh();
  expect(brands.ofCustomer('acme')?.branding.name).toBe('Acme again');
});

it('two that ask at once share one look', async () => {
  await keep('acme', { name: 'Acme' });
  const brands = brandsHere();
  const first = brands.refresh();
  expect(brands.refresh()).toBe(first);
  await first;
  expect(brands.ofCustomer('acme')?.branding.name).toBe('Acme');
  const later = brands.refresh();
  expect(later).not.toBe(first);
  await later;
});
