import { expect, it } from 'vitest';
import { placeOfUrl } from './addresses.ts';
import { resetLinkOf } from './components/reset-link.tsx';
import { pageForTest } from './page-for-test.ts';
import { nothingSaved } from './saved-values.ts';

type Row = { rendered: string; shown?: string; resetHash?: string; saved?: string; hash: string; username: string };

const rows: Record<string, Row> = {
  'the address': { rendered: '/forgottenChange?hash=a', hash: 'a', username: 'ada' },
  'the address before all': {
    rendered: '/forgottenChange?hash=a',
    saved: 'b',
    resetHash: 'c',
    hash: 'a',
    username: 'ada',
  },
  'an empty one counts as none': { rendered: '/forgottenChange?hash=', saved: 'b', hash: 'b', username: '' },
  'what this tab saved, before what waits in the browser': {
    rendered: '/forgottenChange',
    saved: 'b',
    resetHash: 'c',
    hash: 'b',
    username: '',
  },
  'both the same': { rendered: '/forgottenChange', saved: 'c', resetHash: 'c', hash: 'c', username: 'ada' },
  'what waits in the browser': {
    rendered: '/forgottenChange?notice=unavailable',
    resetHash: 'c',
    hash: 'c',
    username: 'ada',
  },
  nothing: { rendered: '/forgottenChange', hash: '', username: '' },
  'a fragment, which the server did not see': {
    rendered: '/login',
    shown: '/forgottenChange?hash=a',
    hash: 'a',
    username: '',
  },
};

it.each(Object.entries(rows))(
  '%s',
  (_name, { rendered, shown = rendered, resetHash, saved = null, hash, username }) => {
    const page = pageForTest(`/portal${rendered}`, { typedUsername: 'ada' });
    const place = placeOfUrl(`/portal${shown}`, '/portal');
    expect(resetLinkOf(page, place, { ...nothingSaved, passwordHashParameter: saved }, resetHash)).toEqual({
      hash,
      username,
    });
  },
);
