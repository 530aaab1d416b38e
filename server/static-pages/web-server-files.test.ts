import { describe, expect, it } from 'vitest';
import { mediaTypes } from '../brand/logo-on-pages.ts';
import { caddyFile } from './caddy-file.ts';
import { nginxSite } from './nginx-files.ts';

const site = { basePath: '/portal', folder: '/srv/pages', headers: {} };
const nginx = nginxSite(site);

describe.each([
  ['nginx', nginx, /location ~ (\^\S+brand\S+) \{/],
  ['Caddy', caddyFile(site), /@vestibule_logo path_regexp (\S+)/],
])('%s', (_, text, place) => {
  const pattern = new RegExp(place.exec(text)?.[1] ?? '^$');

  it.each(Object.keys(mediaTypes))('serves a logo that is %s as one', (ending) => {
    expect(`/portal/assets/brand/a1b2.${ending}`).toMatch(pattern);
    expect(`/portal/assets/brand/a1b2.${ending}x`).not.toMatch(pattern);
  });
});

describe('nginx', () => {
  it.each(Object.entries(mediaTypes))('knows the media type of %s', (ending, type) => {
    expect(nginx).toContain(`            ${type} ${ending};\n`);
  });

  it('says that an answer is compressed only where it is a file, whatever its status', () => {
    const labelled = nginx.split('\n    location ').filter((block) => block.includes('Content-Encoding'));
    const always = labelled.filter((block) => /Content-Encoding \S+ always;/.test(block));
    expect(labelled.length).toBe(5);
    expect(always.map((block) => block.split(' {', 1)[0])).toEqual([
      '= /.vestibule/notFound',
      '= /.vestibule/problem-502',
      '= /.vestibule/problem-504',
    ]);
  });

  it('leaves addresses beside the pages alone', () => {
    expect(nginx).toContain('location /portal/ {');
    expect(nginx).not.toContain('location /portal {');
  });
});
