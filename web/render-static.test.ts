import { expect, it } from 'vitest';
import { assetsForTest, pageForTest } from '#test/support/page-for-test.ts';
import { renderStaticDocument } from './render-static.ts';

const problem = { name: 'problem', status: 502, retryAfterSeconds: null } as const;

it.each([
  ['a network that may not sign in', '/portal/loginfail/ip', {}, true],
  ['an address that is not found', 'none', {}, false],
  ['a problem', 'none', problem, false],
])('%s: its line with a value is there unless only the script knows it', (_, url, screen, isThere) => {
  const page = pageForTest(url, { isStatic: true, screen });
  expect(renderStaticDocument(page, assetsForTest).html.includes('<p class="fact">')).toBe(isThere);
});
