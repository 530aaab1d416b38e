import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { screenPaths } from '#contract/screens.ts';
import { runVestibule } from '#testing/run-vestibule.ts';

const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>';
const forms = [
  ...Object.keys(screenPaths),
  ...['default', 'ip', 'oidc', 'saml', 'passkey'].map((type) => `loginfail-${type}`),
];

describe('vestibule pages', () => {
  let parent: string;
  let folder: string;
  let env: Record<string, string>;
  let result: Awaited<ReturnType<typeof runVestibule>>;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
    folder = join(parent, 'site');
    const settings = {
      name: 'Acme Hub',
      accentColour: '#0a7d4f',
      logo: join(parent, 'logo.svg'),
      basePath: '/acme/door',
    };
    await writeFile(join(parent, 'logo.svg'), logo);
    await writeFile(join(parent, 'config.json'), JSON.stringify(settings));
    env = { VESTIBULE_CONFIG: join(parent, 'config.json'), PUBLIC_URL: 'https://hub.example.com' };
    result = await runVestibule(['pages', folder, '--provider', 'https://login.example.com'], { env });
  });
  afterAll(() => rm(parent, { recursive: true }));

  const read = (path: string) => readFile(join(folder, path), 'utf8');
  const page = (name: string) => read(`public/acme/door/${name}.html`);
  const documents = async () =>
    (await readdir(join(folder, 'public/acme/door'))).filter((name) => name.endsWith('.html'));

  it('says what it wrote', () => {
    expect(result.err).toBe('');
    expect(result.code).toBe(0);
    expect(result.out).toMatch(/^\d+ files are in \S+site:\n/);
    expect(result.out).toContain('Warning: still at their placeholders');
  });

  it('writes every screen in every language, and in all of them at once', async () => {
    for (const name of [
      ...forms,
      'notFound',
      'problem-502',
      'problem-504',
      'twoFactor-email',
      'forgottenChangeFailedInfo-11',
    ]) {
      const all = await page(name);
      for (const language of languages) {
        const html = await page(`${name}.${language}`);
        expect(html).toContain(`<html lang="${language}">`);
        const title = /<title>([^<]+)/.exec(html)?.[1] ?? '';
        expect(title).toMatch(/ · Acme Hub$/);
        if (language === 'en') expect(all).toContain(`<html lang="en">`);
        else expect(all, name).toContain(`<template lang="${language}" title="${title}">`);
      }
    }
    expect((await documents()).length).toBe(32 * 7);
  });

  it('writes each file compressed, too', async () => {
    for (const name of await documents()) {
      const path = join(folder, 'public/acme/door', name);
      const plain = await readFile(path);
      expect(brotliDecompressSync(await readFile(`${path}.br`)).equals(plain), name).toBe(true);
      expect(gunzipSync(await readFile(`${path}.gz`)).equals(plain), name).toBe(true);
    }
  });

  it('has the configured brand, and loads its own files alone', async () => {
    const assets = await readdir(join(folder, 'public/acme/door/assets'));
    for (const name of await documents()) {
      const html = await page(name.replace(/\.html$/, ''));
      expect(/<img src="data:image\/svg\+xml,[^"]+"[^>]* alt="Acme Hub"/.test(html), name).toBe(true);
      const [script = ''] = /(?<=<script type="module" async src="\/acme\/door\/assets\/)[^"]+/.exec(html) ?? [];
      expect(assets).toEqual(expect.arrayContaining([script, `${script}.br`, `${script}.gz`]));
    }
  });

  it('leaves out what only our server knows', async () => {
    for (const name of await documents()) {
      const html = await page(name.replace(/\.html$/, ''));
      expect(html).not.toContain('name="turn"');
      expect(html).not.toContain('name="remember"');
      expect(html).not.toContain('two-factor-authentication/send');
      expect(html).not.toContain('hub.example.com');
      expect(html).not.toMatch(/action="[^"]*(?:turn|destination)=/);
    }
  });

  it('has a policy that admits what is in each document, and nothing else', async () => {
    const policies = {
      single: /content-security-policy "([^"]+)"/.exec(await read('nginx-headers.conf'))?.[1] ?? '',
      all: JSON.parse(await read('routes.json')).headersOfPages['content-security-policy'] as string,
    };
    expect(await read('Caddyfile')).toContain(`content-security-policy "${policies.single}"`);
    const used = { single: new Set<string>(), all: new Set<string>() };
    for (const name of await documents()) {
      const html = await page(name.replace(/\.html$/, ''));
      const kind = /\.\w\w\.html$/.test(name) ? 'single' : 'all';
      const inside = [...html.matchAll(/<(script|style)>(.*?)<\/\1>/gs)].map(([, , text = '']) => hashOf(text));
      for (const hash of inside) {
        expect(policies[kind], name).toContain(hash);
        used[kind].add(hash);
      }
      expect(html).not.toMatch(/ style="| on\w+="/);
    }
    for (const kind of ['single', 'all'] as const) {
      expect(policies[kind].match(/'sha256-[^']+'/g)?.sort()).toEqual([...used[kind]].sort());
      expect(policies[kind]).toContain("form-action 'self' https://login.example.com;");
      expect(policies[kind]).not.toContain('unsafe');
    }
    expect(await read('nginx-headers.conf')).toContain('strict-transport-security');
  });

  it('is refused where somebody else has a file, and changes nothing', async () => {
    await writeFile(join(folder, 'mine.txt'), 'mine');
    const { code, err } = await runVestibule(['pages', folder], { env });
    expect([code, err]).toEqual([
      1,
      `${folder} holds files that are not ours or were changed: mine.txt. --force leaves them there.\n`,
    ]);
    expect(await read('nginx-headers.conf')).toContain('https://login.example.com');
  });

  it.each([
    [['pages'], 2, /missing required argument 'folder'/],
    [['pages', 'a folder'], 1, /The path may have letters, digits and/],
    [['pages', 'x', '--provider', 'login.example.com'], 1, /--provider: "login.example.com" is not an origin/],
    [['pages', 'x', '--provider', 'https://login.example.com/path'], 1, /is not an origin such as/],
    [['pages', 'x', '--provider', "https://o'login.example.com"], 1, /is not an origin such as/],
    [['pages', 'x', '--provider', 'https://*.example.com'], 1, /is not an origin such as/],
  ])('%j is refused', async (args, code, words) => {
    const refused = await runVestibule(args, { env });
    expect(refused.code).toBe(code);
    expect(refused.err).toMatch(words);
  });

  it('a folder that cannot be written is said to be', async () => {
    const { code, err } = await runVestibule(['pages', join(parent, 'config.json/site')], { env });
    expect([code, err]).toEqual([1, `${parent}/config.json/site cannot be written (ENOTDIR); nothing was changed.\n`]);
  });

  it('a configuration that is not valid is reported', async () => {
    const { code, err } = await runVestibule(['pages', join(parent, 'other')], { env: { PUBLIC_URL: 'nowhere' } });
    expect(code).toBe(3);
    expect(err).toContain('PUBLIC_URL: must be an address');
  });
});

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
