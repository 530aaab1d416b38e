import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { eventsPage } from './events-page.ts';

it('the documentation lists every event and reason (node server/audit/events-page.ts > docs/events.md)', async () => {
  expect(await readFile(new URL('../../docs/events.md', import.meta.url), 'utf8')).toBe(eventsPage());
});
