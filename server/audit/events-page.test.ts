import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { configurationPage } from '../config/configuration-page.ts';
import { passkeyRefusalReasons, ssoRefusalReasons } from './audit-events.ts';
import { eventsPage } from './events-page.ts';

it.each([
  ['events', 'node server/audit/events-page.ts', eventsPage],
  ['configuration', 'node server/config/configuration-page.ts', configurationPage],
])('docs/%s.md is what %s writes', async (name, _, page) => {
  expect(await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')).toBe(page());
});

it.each([
  ['single-sign-on', ssoRefusalReasons],
  ['account', passkeyRefusalReasons],
])('docs/%s.md says what to do about each reason', async (name, reasons) => {
  const page = await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  expect(Object.keys(reasons).filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});
