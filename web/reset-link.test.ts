import { expect, it } from 'vitest';
import { pageForTest } from '#test/support/page-for-test.ts';
import { placeOfUrl } from './addresses.ts';
import { nothingSaved } from './saved-values.ts';
import { resetLinkOf } from './screens/forgotten.tsx';

/** What the server rendered, what is saved in the tab, and what waits in the browser. */
it.each([
  ['the address before all', '/forgottenChange?hash=a', 'b', 'c', 'a', 'ada'],
  ['an empty one counts as none', '/forgottenChange?hash=', 'b', undefined, 'b', ''],
  ['what this tab saved, before what waits in the browser', '/forgottenChange', 'b', 'c', 'b', ''],
  ['both the same', '/forgottenChange', 'c', 'c', 'c', 'ada'],
  ['what waits in the browser', '/forgottenChange?notice=unavailable', null, 'c', 'c', 'ada'],
  ['nothing', '/forgottenChange', null, undefined, '', ''],
])('%s', (_name, address, saved, resetHash, hash, username) => {
  const page = pageForTest(`/portal${address}`, { typedUsername: 'ada' });
  const place = placeOfUrl(page.url, '/portal');
  const kept = { ...nothingSaved, passwordHashParameter: saved };
  expect(resetLinkOf(page, place, kept, resetHash)).toEqual({ hash, username });
});

it('a fragment names an account that the server did not see', () => {
  const page = pageForTest('/portal/login', { typedUsername: 'ada' });
  const place = placeOfUrl('/portal/forgottenChange?hash=a', '/portal');
  expect(resetLinkOf(page, place, nothingSaved, undefined)).toEqual({ hash: 'a', username: '' });
});
