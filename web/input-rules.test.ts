import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

// What no checker sees in a page, because it is about what the page reacts to.

const root = fileURLToPath(new URL('.', import.meta.url));
const sources = globSync(['**/*.{ts,tsx,css}'], { cwd: root })
  .filter((path) => !/\.test\.|-for-test\.|^targets/.test(path))
  .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }));

const filesWith = (pattern: RegExp) =>
  sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path.replaceAll('\\', '/'));

it('nothing happens on the press of a pointer, by a path, by a drag or by movement; near a button its form looks again', () =>
  expect(
    filesWith(
      /on(?:Pointer|Mouse|Touch|Drag)\w*=|['"](?:pointer|mouse|touch|drag)\w+['"]|device(?:motion|orientation)/i,
    ),
  ).toEqual(['components/portal-form.tsx']));

it('no key alone does anything but Escape, which takes back a submission, and those in the six boxes; a form looks again', () =>
  expect(filesWith(/keydown|keyup|keypress|onKey|accessKey/i)).toEqual([
    'use-leave-page.ts',
    'components/code-boxes.tsx',
    'components/portal-form.tsx',
  ]));

it('nothing plays, blinks or scrolls by itself', () =>
  expect(filesWith(/<(?:video|audio|marquee|canvas)\b|autoplay|text-decoration[^;]*blink/i)).toEqual([]));

it('no style depends on the orientation, and none keeps a page from being enlarged', () => {
  expect(filesWith(/\(orientation|user-scalable|maximum-scale|minimum-scale/)).toEqual([]);
  expect(filesWith(/width=device-width/)).toEqual(['render.tsx']);
});

it('nothing keeps anybody from pasting: the six boxes take a paste over, and nothing else listens', () => {
  expect(filesWith(/onPaste|onCopy|onCut|['"]paste['"]/)).toEqual(['components/code-boxes.tsx']);
  expect(filesWith(/autocomplete=["']?(?:nope|false)/i)).toEqual([]);
});
