import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { screenPaths } from '#contract/screens.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { type Asked, printWays, standings, wayOf } from './ways.ts';

const pages = ['hub', ...Object.keys(screenPaths), 'loginFail'] as Asked[];

describe.each(Object.entries(standings))('a visitor: %s', (_, standing) => {
  it('reaches a page that is shown, without a loop', () =>
    eachRow(pages, (asked) => {
      const seen = new Set<Asked>();
      let page = asked;
      for (let way = wayOf(standing, page); way.kind !== 'show'; way = wayOf(standing, page)) {
        expect(seen, 'a loop').not.toContain(page);
        seen.add(page);
        page = pageOf(way);
      }
      if (page === 'hub') expect(standing.kind).toBe('full');
      if (page === 'twoFactor') expect(standing.kind).toMatch(/half|full/);
    }));

  function pageOf(way: ReturnType<typeof wayOf>): Asked {
    if (way.kind === 'destination') return 'hub';
    if (way.kind === 'login') return 'login';
    return standing.kind === 'half' && standing.mustRegister ? 'twoFactorRegistration' : 'twoFactor';
  }
});

it('the documentation shows the current table (node server/sessions/ways.ts)', async () => {
  const page = await readFile(new URL('../../docs/ways.md', import.meta.url), 'utf8');
  expect(page).toContain(`\n${printWays()}`);
});
