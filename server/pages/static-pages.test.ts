import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { screenPaths } from '#contract/screens.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

const logo = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>';
const names = [
  ...Object.keys(screenPaths),
  ...['default', 'ip', 'oidc', 'saml', 'passkey'].map((type) => `loginfail-${type}`),
  ...['twoFactor-email', 'twoFactorRegistration-email', 'forgottenChange-1', 'forgottenChange-2'],
  ...Array.from({ length: 11 }, (_, index) => `forgottenChangeFailedInfo-${index + 1}`),
  ...['not-found', 'problem-502', 'problem-504'],
];

describe('vestibule pages', () => {
  let parent: string;
  let folder: string;
  let env: Record<string, string>;
  const pages = new Map<string, string>();

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'vestibule-pages-'));
    folder = join(parent, 'site');
    const settings = { name: 'Acme Hub', logo: join(parent, 'logo.svg'), basePath: '/acme/door' };
    await writeFile(join(parent, 'logo.svg'), logo);
    await writeFile(join(parent, 'config.json'), JSON.stringify(settings));
    env = { VESTIBULE_CONFIG: join(parent, 'config.json'), PUBLIC_URL: 'https://hub.example.com' };
    const { err } = await runVestibule(['pages', folder, '--provider', 'https://login.example.com'], { env });
    expect(err).toBe('');
    const below = join(folder, 'public/acme/door');
    for (const name of await readdir(below))
      if (name.endsWith('.html')) pages.set(name, await readFile(join(below, name), 'utf8'));
  });
  afterAll(() => rm(parent, { recursive: true }));

  it('writes every screen in every language, in the configured brand', () => {
    const wanted = names.flatMap((name) => languages.map((language) => `${name}.${language}.html`));
    expect([...pages.keys()].sort()).toEqual(wanted.sort());
    for (const [name, html] of pages) {
      expect(html, name).toContain(`<html lang="${name.split('.')[1]}">`);
      expect(html, name).toMatch(/<title>[^<]+ · Acme Hub<\/title>/);
      expect(html, name).toMatch(/<img src="[^"]+"[^>]* alt="Acme Hub"/);
    }
  });

  it('loads its own files alone, and leaves out what only our server knows', async () => {
    const assets = await readdir(join(folder, 'public/acme/door/assets'));
    for (const [name, html] of pages) {
      const [, shown = ''] = /<img src="\/acme\/door\/assets\/(logo\/[^"]+)" alt="Acme Hub"/.exec(html) ?? [];
      expect(await readFile(join(folder, 'public/acme/door/assets', shown), 'utf8'), name).toBe(logo);
      const [script] = /(?<=<script type="module" async src="\/acme\/door\/assets\/)[^"]+/.exec(html) ?? [];
      expect(assets, name).toContain(script);
      expect(html, name).not.toMatch(/name="remember"|two-factor-authentication\/send|hub\.example\.com/);
      expect(html, name).not.toMatch(/ style="| on\w+="/);
    }
  });

  it('has a policy that admits what is in the documents, and nothing else', async () => {
    const headers = await readFile(join(folder, 'headers.conf'), 'utf8');
    const policy = /content-security-policy "([^"]+)"/.exec(headers)?.[1] ?? '';
    const inside = [...pages.values()].flatMap((html) => [...html.matchAll(/<(script|style)>(.*?)<\/\1>/gs)]);
    const hashes = new Set(inside.map(([, , text = '']) => hashOf(text)));
    expect(policy.match(/'sha256-[^']+'/g)?.sort()).toEqual([...hashes].sort());
    expect(policy).toContain("form-action 'self' https://login.example.com;");
    expect(policy).not.toContain('unsafe');
    expect(headers).toContain('strict-transport-security');
  });

  it.each([
    [['pages', 'x', '--provider', 'login.example.com'], {}, 1, /--provider: "login.example.com" is not an origin/],
    [['pages', 'x', '--provider', "https://o'login.example.com"], {}, 1, /is not an origin such as/],
    [['pages', '/dev/null/site'], {}, 1, /\/dev\/null\/site.* cannot be written \(ENOTDIR\)/],
    [['pages', 'x'], { PUBLIC_URL: 'nowhere' }, 3, /PUBLIC_URL: must be an address/],
  ])('%j is refused', async (args, more, code, words) => {
    const refused = await runVestibule(args, { env: { ...env, ...more } });
    expect(refused.code).toBe(code);
    expect(refused.err).toMatch(words);
  });
});

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
