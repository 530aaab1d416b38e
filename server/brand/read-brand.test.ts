import { describe, expect, it } from 'vitest';
import { brandForTest } from '#testing/brand-for-test.ts';
import { svgForTest } from '#testing/logo-for-test.ts';
import { customersBrand, ownBrand } from './brand.ts';
import { readBrand } from './read-brand.ts';
import { textModule } from './text-module.ts';

const none = { logo: null, logoDark: null };
const parts = { name: null, logo: null, logoDark: null, accentColour: null, links: {}, texts: {} };

function problemsOf(...[settings, images]: [Parameters<typeof readBrand>[0], Parameters<typeof readBrand>[1]?]) {
  const problems: string[] = [];
  readBrand(settings, images ?? none, problems);
  return problems;
}

describe('BR-04 the texts of a brand', () => {
  it.each([
    ['an unknown key', { en: { 'login-titel': 'Hello' } }, 'texts.en.login-titel: is not the key of a text'],
    ['a name of every object', { en: { constructor: 'Hello' } }, 'texts.en.constructor: is not the key'],
    [
      'an unknown placeholder',
      { de: { 'login-title': 'Hallo {user}' } },
      'texts.de.login-title: has an unknown placeholder: {user}',
    ],
    [
      'a missing placeholder',
      { en: { 'mail-footer': 'Nobody asks.' } },
      'texts.en.mail-footer: needs the placeholder {hub}',
    ],
    ['markup', { en: { 'login-title': 'Hello <b>you</b>' } }, 'texts.en.login-title: must be plain text'],
    ['an entity', { en: { 'login-title': 'Hello &lt;you' } }, 'must be plain text'],
    ['a line break', { en: { 'mail-resetLink-subject': 'Hello {hub}\r\nBcc: all@acme.example' } }, 'must be one line'],
    ['another direction', { en: { 'login-title': 'Hello \u202eyou' } }, 'must be one line'],
    ['nothing', { en: { 'login-title': ' ' } }, 'must not be empty'],
    ['half a placeholder', { en: { 'login-title': 'Hello {' } }, 'has a brace'],
    ['a link in an email', { en: { 'mail-footer': '{hub}: see https://evil.example' } }, 'must not have an address'],
  ])('%s is refused by name', (_name, texts, words) => {
    const problems = problemsOf({ texts });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
  });

  it('that fit are taken, and a bad one does not take them along', () => {
    const problems: string[] = [];
    const texts = { en: { tagline: 'Power for everyone', 'login-title': '<' }, de: { tagline: 'Strom für alle' } };
    expect(readBrand({ texts }, none, problems).texts).toEqual({
      en: { tagline: 'Power for everyone' },
      de: { tagline: 'Strom für alle' },
    });
    expect(problems).toHaveLength(1);
  });

  it('are in the script that takes the place of the build’s, without those of emails', () => {
    const module = textModule('en', { en: { tagline: 'Power', 'mail-footer': '{hub}' } });
    const texts = JSON.parse(module.slice('export default '.length)) as Record<string, string>;
    expect(texts).toMatchObject({ tagline: 'Power', support: 'Support' });
    expect(Object.keys(texts).filter((key) => key.startsWith('mail-') || key === 'description')).toEqual([]);
  });
});

it('BR-03 a logo that is none is refused by its field', () => {
  const text = Buffer.from('no image');
  expect(problemsOf({}, { logo: text, logoDark: text })).toEqual([
    'logo: is not an image: it must be SVG, PNG, WebP or JPEG',
    'logoDark: is not an image: it must be SVG, PNG, WebP or JPEG',
  ]);
  expect(problemsOf({}, { logo: null, logoDark: Buffer.from(svgForTest) })).toEqual(['logoDark: needs logo']);
});

describe('a customer’s brand above the installation’s', () => {
  const read = readBrand({}, { logo: Buffer.from(svgForTest), logoDark: null }, []);
  const own = ownBrand(
    { ...read, name: 'Hub', links: brandForTest().branding.links, accentColour: '#123', texts: { en: { or: 'OR' } } },
    '/portal',
  );

  it('has what it leaves out from there', () => {
    const brand = customersBrand('acme', { ...parts, texts: { en: { tagline: 'Power' } } }, own, '/portal');
    expect(brand).toMatchObject({ key: 'acme', accentColour: '#123', texts: { en: { or: 'OR', tagline: 'Power' } } });
    expect(brand.branding).toEqual(own.branding);
  });

  it('never puts its name beside the installation’s logo', () => {
    const { branding } = customersBrand('acme', { ...parts, name: 'Acme' }, own, '/portal');
    expect(branding).toMatchObject({ name: 'Acme', logo: null });
  });

  it('shows a small logo within the page and a large one as a file, a wide one less high than a square one', () => {
    const small = customersBrand('acme', { ...parts, logo: read.logo }, own, '/portal');
    expect(small.files.size).toBe(0);
    expect(small.branding.logo?.img).toMatchObject({
      src: expect.stringMatching(/^data:image\/svg\+xml,%3Csvg%20xmlns='[^"<>&\s]*$/),
      width: 120,
      height: 30,
    });
    const large = {
      type: 'png',
      bytes: Buffer.from(Array.from({ length: 3000 }, (_, at) => ((at * 73) % 251) ^ at)),
      width: 200,
      height: 200,
    } as const;
    const { files, branding } = customersBrand('acme', { ...parts, logo: large, logoDark: large }, own, '/portal');
    expect([...files.values()]).toEqual([large]);
    expect(branding.logo).toMatchObject({
      img: { src: expect.stringMatching(/^\/portal\/assets\/brand\/[\w-]{16}\.png$/), width: 48, height: 48 },
      dark: { srcSet: branding.logo?.img.src, media: 'screen and (prefers-color-scheme:dark)' },
    });
  });
});
