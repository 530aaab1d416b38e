import { expect, it } from 'vitest';
import { html } from './html.ts';

it('escapes texts and numbers, but not markup of its own', () => {
  const inside = html`<b>${'a < b & "c"'}</b>`;
  expect(html`<p title="${`it's "this"`}">${inside}${3}${[inside]}</p>`.markup).toBe(
    '<p title="it&#39;s &#34;this&#34;"><b>a &#60; b &#38; &#34;c&#34;</b>3<b>a &#60; b &#38; &#34;c&#34;</b></p>',
  );
});

it('leaves nothing where there is nothing', () => {
  expect(html`<p>${null}${false}${[]}</p>`.markup).toBe('<p></p>');
});
