import { describe, expect, it } from 'vitest';
import { readLogo } from './read-logo.ts';

const svg = (inside: string, attributes = 'viewBox="0 0 120 30"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`;
const path = '<path d="M0 0h120v30H0z" fill="#a50"/>';

const reading = (content: string | Buffer) => readLogo(Buffer.from(content));
const problemOf = (content: string | Buffer) => {
  const result = reading(content);
  return result.kind === 'refused' ? result.problem : `accepted as ${result.logo.bytes}`;
};

describe('BR-03 an SVG that would run or load anything is refused, by the name of what would', () => {
  it.each([
    ['a script', svg('<script>alert(1)</script>'), '<script>'],
    [
      'a script by another prefix',
      '<s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><s:script/></s:svg>',
      '<script>',
    ],
    ['a script inside a shape', svg('<g><path d="M0 0"><script/></path></g>'), '<script>'],
    ['a script inside a title', svg(`<title/><g><script href="data:,alert(1)"/></g>${path}`), '<script>'],
    ['an event handler', svg('<path d="M0 0" onload="alert(1)"/>'), 'onload'],
    ['an event handler on the root', svg(path, 'viewBox="0 0 9 9" onload="alert(1)"'), 'onload'],
    ['an event handler in capitals', svg('<path d="M0 0" ONCLICK="alert(1)"/>'), 'ONCLICK'],
    ['foreign content', svg('<foreignObject><body/></foreignObject>'), '<foreignObject>'],
    ['a style sheet', svg('<style>@import url(https://evil.example)</style>'), '<style>'],
    ['a style', svg('<path d="M0 0" style="fill:url(https://evil.example)"/>'), 'style'],
    ['an animation', svg('<animate attributeName="href" to="javascript:alert(1)"/>'), '<animate>'],
    ['an animation of an attribute', svg('<set attributeName="onload" to="alert(1)"/>'), '<set>'],
    ['a picture from elsewhere', svg('<image href="https://evil.example/x.png"/>'), '<image>'],
    ['a filter', svg('<filter id="a"><feImage href="https://evil.example"/></filter>'), '<filter>'],
    ['a link', svg(`<a href="https://evil.example">${path}</a>`), '<a>'],
    ['a copy, which can multiply', svg('<g id="a"/><use href="#a"/>'), '<use>'],
    ['text, whose font may be missing', svg('<text>Acme</text>'), '<text>'],
    ['paint from elsewhere', svg('<path d="M0 0" fill="url(https://evil.example#a)"/>'), 'fill'],
    ['paint from elsewhere, beside its own', svg('<path d="M0 0" fill="url(#a) url(//evil.example)"/>'), 'fill'],
    ['paint from elsewhere, escaped', svg('<path d="M0 0" fill="u\\72l(//evil.example)"/>'), 'fill'],
    ['paint from elsewhere, as an entity', svg('<path d="M0 0" fill="&#117;rl(//evil.example)"/>'), 'fill'],
    ['a mask from elsewhere', svg('<path d="M0 0" mask="URL( //evil.example )"/>'), 'mask'],
    ['an image set', svg('<path d="M0 0" fill="image-set(\'//evil.example\' 1x)"/>'), 'fill'],
    ['a gradient from elsewhere', svg('<linearGradient xlink:href="//evil.example#a"/>'), 'xlink:href'],
    ['a gradient by javascript', svg('<linearGradient href="javascript:alert(1)"/>'), 'href'],
    ['a mask on a mask', svg('<mask id="a" mask="url(#b)"/>'), 'mask (on <mask>) within a mask'],
    ['a mask of masks', svg('<mask id="a"><g><rect mask="url(#b)"/></g></mask>'), 'mask (on <rect>) within a mask'],
    ['a path that clips a path', svg('<clipPath id="a" clip-path="url(#b)"/>'), 'clip-path (on <clipPath>)'],
    ['a clipped path that clips', svg('<clipPath id="a"><rect clip-path="url(#b)"/></clipPath>'), '(on <rect>) within'],
    ['a clipped mask', svg('<mask id="a"><rect clip-path="url(#b)"/></mask>'), 'clip-path (on <rect>) within a mask'],
    ['a mask within a mask', svg('<mask id="a"><mask id="b"/><g mask="none"/></mask>'), 'mask (on <g>) within a mask'],
    ['an entity', `<!DOCTYPE svg [<!ENTITY a "x">]>${svg('&a;')}`, 'document type'],
    ['a document type', `<!doctype svg SYSTEM "https://evil.example/x.dtd">${svg(path)}`, 'document type'],
  ])('%s', (_name, content, named) => {
    expect(problemOf(content)).toContain(named);
  });

  it.each([
    ['a style sheet instruction', `<?xml-stylesheet href="https://evil.example"?>${svg(path)}`],
    ['a comment that seems to end', svg(`<!-- --!><script> -->${path}`)],
    ['characters as they are', svg(`<![CDATA[<script>alert(1)</script>]]>${path}`)],
    ['another vocabulary', svg(`<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>${path}`)],
    [
      'an editor’s words',
      svg(`<metadata><script>1</script></metadata>${path}`, 'viewBox="0 0 9 9" data-name="onload"'),
    ],
    ['a title that closes', svg(`<title>&lt;/title&gt;&lt;script&gt;</title>${path}`)],
  ])('%s is not written at all', (_name, content) => {
    const result = reading(content);
    expect(result.kind).toBe('ok');
    const text = result.kind === 'ok' ? result.logo.bytes.toString() : '';
    expect(text).toMatch(
      /^<svg xmlns='http:\/\/www\.w3\.org\/2000\/svg'[^<]*><path d='M0 0h120v30H0z' fill='#a50'\/><\/svg>$/,
    );
  });

  it('values cannot leave their quotes', () => {
    const result = reading(svg(`<path d='M0 0' id="a'/&gt;&lt;script&gt;"/>`));
    expect(result).toMatchObject({ kind: 'refused' });
  });
});

describe('BR-03 what is no image, or too large, is refused', () => {
  const png = (width: number, height: number) => {
    const bytes = Buffer.alloc(33);
    bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };

  it.each([
    ['nothing', '', 'not an image'],
    ['text', 'Acme', 'not an image'],
    ['JSON', '{}', 'not an image'],
    ['a program', Buffer.from('7f454c46', 'hex'), 'not an image'],
    ['a GIF', 'GIF89a\x01\x00\x01\x00', 'not an image'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'document type'],
    ['HTML without its type', '<html><script>alert(1)</script></html>', 'not an SVG'],
    ['XML that is no SVG', '<svg viewBox="0 0 9 9"/>', 'not an SVG'],
    ['broken XML', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path></svg>', 'well-formed'],
    ['an SVG without a size', svg(path, ''), 'viewBox'],
    ['an SVG without a height', svg(path, 'viewBox="0 0 9 0"'), 'viewBox'],
    ['a PNG cut in its header', png(9, 9).subarray(0, 18), 'not an image'],
    ['a PNG too wide', png(5000, 500), '4096'],
    ['a PNG without width', png(0, 9), '4096'],
    ['a column', png(10, 30), 'times'],
    ['a line', png(4000, 30), 'times'],
    ['too many bytes', Buffer.concat([png(120, 30), Buffer.alloc(64 * 1024)]), '64 KB'],
    ['too many elements', svg('<g/>'.repeat(501)), '500 elements'],
    ['an SVG that grows as it is written', svg(`<g id="${"'".repeat(20_000)}"/>`), '64 KB as it is kept'],
    ['too deep', svg('<g>'.repeat(30) + '</g>'.repeat(30)), '20 deep'],
  ])('%s', (_name, content, words) => {
    expect(problemOf(content)).toContain(words);
  });

  it('the parser holds against a file of nothing but openings', () => {
    expect(problemOf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">${'<g>'.repeat(20_000)}`)).toMatch(
      /well-formed|deep/,
    );
  });
});

describe('BR-03 images are known by their content', () => {
  it.each([
    ['png', 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC', 2, 1],
    ['webp', 'UklGRhoAAABXRUJQVlA4TA0AAAAvAUAAAAcQEf0PRET/Aw==', 2, 2],
    [
      'jpg',
      '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAIBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==',
      2,
      1,
    ],
  ] as const)('%s', (type, base64, width, height) => {
    expect(reading(Buffer.from(base64, 'base64'))).toMatchObject({ kind: 'ok', logo: { type, width, height } });
  });

  it('an SVG keeps shapes, gradients and masks, and is written anew', () => {
    const gradient =
      '<defs><linearGradient id="a" xlink:href="#b"><stop offset="0" stop-color="#fff"/></linearGradient></defs>';
    const result = reading(svg(`${gradient}<g clip-path="url(#c)"><rect width="9" height="9" fill="url(#a)"/></g>`));
    expect(result.kind === 'ok' && result.logo.bytes.toString()).toBe(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 120 30'><defs><linearGradient id='a' href='#b'><stop offset='0' stop-color='#fff'/></linearGradient></defs><g clip-path='url(#c)'><rect width='9' height='9' fill='url(#a)'/></g></svg>",
    );
    expect(result).toMatchObject({ logo: { type: 'svg', width: 120, height: 30 } });
  });

  it('an SVG may use masks beside each other, after one as well', () => {
    const masks = '<mask id="a"><rect width="9" height="9"/></mask><clipPath id="b"><rect width="9"/></clipPath>';
    expect(reading(svg(`${masks}<g mask="url(#a)"><path d="M0 0" clip-path="url(#b)"/></g>`)).kind).toBe('ok');
  });

  it.each([
    ['href="#b" xlink:href="#c"', "href='#b'"],
    ['xlink:href="#c" href="#b"', "href='#b'"],
    ['xmlns:y="http://www.w3.org/1999/xlink" xlink:href="#c" y:href="#d"', "href='#c'"],
  ])('an address that is given twice is written once: %s', (given, written) => {
    const result = reading(svg(`<linearGradient ${given}/>`));
    const text = result.kind === 'ok' ? result.logo.bytes.toString() : result.problem;
    expect(text).toContain(`<linearGradient ${written}/>`);
    expect(readLogo(Buffer.from(text))).toEqual(result);
  });
});
