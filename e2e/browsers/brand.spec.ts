import { setCustomerBrand } from '#server/accounts/set-customer-brand.ts';
import type { KeptBrand } from '#server/storage/customer-brand.ts';
import { svgForTest } from '#testing/logo-for-test.ts';
import { addCustomerTo } from '../portal-accounts.ts';
import { onDatabaseOf } from '../portal-database.ts';
import type { PortalUnderTest } from '../portal-under-test.ts';
import { textsOf } from '../texts.ts';
import { isHere } from './engines.ts';
import { giveNameAndPassword, signedIn } from './sign-in.ts';
import { expect, test } from './test.ts';
import type { Visitor } from './visitor.ts';

// A page in a customer's brand: what of it a browser decides. server/http/brand-pages.test.ts has the rest.

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');
const welcome = 'Welcome to the lighthouse';

const base64 = (svg: string) => Buffer.from(svg).toString('base64');
const brand = {
  settings: {
    name: 'Beacon Energy',
    accentColour: '#ffcc00',
    links: { support: 'https://beacon.test/help' },
    texts: { en: { 'login-title': welcome } },
  },
  hosts: [],
  logo: base64(svgForTest),
  logoDark: base64(svgForTest.replace('#a50', '#fc8').replace('120 30', '60 30')),
} as unknown as KeptBrand;

/** A customer with a brand, as soon as the portal shows it. */
async function startBrand(portal: PortalUnderTest) {
  await addCustomerTo(portal, 'beacon', { name: 'Beacon' });
  await onDatabaseOf(portal, (sql) => setCustomerBrand(sql, 'beacon', brand, new Date()));
  const page = async () => await (await fetch(`${portal.origin}/portal/login?customer=beacon`)).text();
  await expect.poll(page, { timeout: 20_000 }).toContain('Beacon Energy');
  return { close: async () => {} };
}

/** How the logo and the button look. */
const looksOf = (visitor: Visitor) =>
  visitor.inPage(() => {
    const logo = document.querySelector<HTMLImageElement>('.logo img');
    const button = document.querySelector('main button[type=submit]') as Element;
    return {
      shape: logo && logo.naturalWidth / logo.naturalHeight,
      name: logo?.alt,
      face: getComputedStyle(button).backgroundColor,
      text: getComputedStyle(button).color,
    };
  });

test('a brand has its logo for day and night, its colour and its texts, and is kept through a sign-in', {
  tag: '@other-engine',
}, async ({ portal, oncePerWorker, onLine, newPerson }) => {
  await oncePerWorker.get(startBrand, portal);
  const { username } = await newPerson();
  const visitor = await onLine();
  await visitor.open('/portal/login');
  await visitor.fill(texts['login-username'], username);
  await visitor.fill(texts['login-password'], 'any');
  const own = await looksOf(visitor);
  expect(own.shape).toBeNull();
  await visitor.open('/portal/login?customer=beacon');
  const { title } = await visitor.sees(welcome);
  expect(title).toBe(`${welcome} · Beacon Energy`);
  await visitor.isScripted();
  await visitor.fill(texts['login-username'], username);
  await visitor.fill(texts['login-password'], 'any');
  const day = await looksOf(visitor);
  expect(day).toMatchObject({ shape: 4, name: 'Beacon Energy' });
  expect(day.face).not.toBe(own.face);
  await visitor.press('link', texts['login-forgotten']);
  await visitor.sees(texts['forgotten-title']);
  await visitor.isAt('/portal/forgotten?customer=beacon');
  await visitor.back();
  await visitor.sees(welcome);
  await giveNameAndPassword(visitor, username);
  await visitor.sees(signedIn);
  await visitor.isAt('/portal/portal.html?customer=beacon');

  const atNight = await onLine({ looks: 'night' });
  await atNight.open('/portal/login?customer=beacon');
  await atNight.sees(welcome);
  await atNight.fill(texts['login-username'], username);
  await atNight.fill(texts['login-password'], 'any');
  const night = await looksOf(atNight);
  expect(night).toMatchObject({ shape: 2, name: 'Beacon Energy' });
  expect(night.face).not.toBe(day.face);
});
