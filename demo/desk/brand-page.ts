import { readBrand } from '#server/config/brand.ts';
import type { Config } from '#server/config/config.ts';
import { loadStaticPages } from '#server/http/built-pages.ts';
import { type Html, html } from '../html.ts';

type Brand = { name: string; colour: string };

/** What was asked for, or the brand that the page begins with. */
export function brandOf(query: URLSearchParams): Brand {
  const colour = query.get('colour') ?? '';
  return {
    name: (query.get('name') ?? '').trim().slice(0, 32) || 'Meadow & Moor',
    colour: /^#[\da-f]{6}$/i.test(colour) ? colour : '#3f7d20',
  };
}

export function brandPage({ name, colour }: Brand): Html {
  const shown = new URLSearchParams({ name, colour });
  return html`<h1>Your brand</h1>
<p class="lede">A portal takes a name, a colour, logos and words of yours from its configuration. Contrasts are computed, so that any colour stays readable, by day and by night.</p>
<form class="brand"><label>Name <input name="name" value="${name}" maxlength="32"></label>
<label>Colour <input type="color" name="colour" value="${colour}"></label><button class="button">Show</button></form>
<iframe class="brand" sandbox src="/brand/login?${shown.toString()}" title="The sign-in page in this brand"></iframe>`;
}

/** The sign-in page as a portal of that brand sends it; without its scripts, which are the portal's. */
export async function brandedSignIn(config: Config, { name, colour }: Brand): Promise<string> {
  const brand = readBrand({ name, accentColour: colour }, []);
  const { render } = await loadStaticPages({ ...config, brand });
  return render({
    language: 'en',
    url: `${config.basePath}/login`,
    branding: brand.branding,
    rules: { ...config.destinationRules, origin: '' },
    passwordPolicy: config.passwordPolicy,
    typedUsername: '',
    reference: null,
    isStatic: true,
    screen: { name: 'login' },
  }).html;
}
