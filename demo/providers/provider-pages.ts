import { type Html, headOf, html } from '../html.ts';
import type { Place } from '../place.ts';

/** Who can be picked at a provider, and what it says of them. */
export type PersonAtProvider = { email: string; name: string; groups: readonly string[]; note: string };

/** What a provider's pages say of it. */
type ProviderLook = { name: string; mark: string; startPage: string };

/** What both kinds of provider are started with. */
export type ProviderOptions = {
  look: ProviderLook;
  css: () => string;
  people: readonly PersonAtProvider[];
  place: Place;
  /** The portal's address, base path included. */
  portal: string;
};

/** The frame of every page of a provider: the portal's own arch in another colour. */
export function providerPage({ name, mark, startPage }: ProviderLook, title: string, content: Html): Html {
  return html`${headOf(title, name, '/look.css')}
<body>
<div class="portal">
<div class="wall"><div class="door"><div class="column">
<header class="header"><a class="logo" href="/"><span class="mark" aria-hidden="true">${mark}</span><span>${name}</span></a></header>
<main><h1>${title}</h1>${content}</main>
</div></div></div>
<footer class="floor"><span>A provider of the demo, not part of Vestibule</span><nav aria-label="Demo"><a href="${startPage}">Start page of the demo</a></nav></footer>
</div>
</body>
</html>`;
}

/** Everybody who has an account there, as buttons; the one that the portal named comes first. */
export function peopleButtons(people: readonly PersonAtProvider[], hint = ''): Html {
  const isNamed = ({ email }: PersonAtProvider) => email === hint;
  const ordered = [...people.filter(isNamed), ...people.filter((person) => !isNamed(person))];
  return html`<div class="people">${ordered.map(
    (
      person,
    ) => html`<button class="${isNamed(person) ? 'button' : 'button quiet'}" name="person" value="${person.email}">
<span>${person.email}<small>${person.name}, ${person.note}</small></span></button>`,
  )}</div>`;
}

/** How the provider shall answer: a choice that is posted with whatever button is pressed. */
export function behaviourChoice(current: Behaviour, choices = Object.keys(behaviours) as Behaviour[]): Html {
  return html`<fieldset class="choices"><legend>How this provider answers</legend>${choices.map(
    (key) => html`<label><input type="radio" name="behaviour" value="${key}"${key === current && html` checked`}>
<span><b>${behaviours[key].name}</b> <small>${behaviours[key].what}</small></span></label>`,
  )}</fieldset>`;
}

/** The switch on a provider's own page; a press leads back here and says that it counts. */
export function switchForm(current: Behaviour, isSaved: boolean): Html {
  return html`<form method="post">${behaviourChoice(current)}<button class="button">Save</button></form>
<p class="lede" role="status">${isSaved && html`Saved. From now on: ${behaviours[current].name.toLowerCase()}.`}</p>`;
}

/** The address of the page that tells so. */
export const savedPage = '/?saved=yes';

export function outOfOrderPage(look: ProviderLook, backTo: string): Html {
  return providerPage(
    look,
    'Out of order',
    html`<p class="lede">This provider is switched to “down”: nobody can sign in here now.</p>
<div class="stack"><a class="button" href="${backTo}">Back to the portal</a><a class="button quiet" href="/">Switch it on again</a></div>`,
  );
}

/** How a provider answers: as it should, or with one fault. */
const behaviours = {
  right: { name: 'As it should', what: 'A correct answer at once.' },
  audience: { name: 'Wrong audience', what: 'The answer is meant for another application.' },
  expired: { name: 'Expired', what: 'The answer was good until an hour ago.' },
  slow: { name: 'Slow', what: 'It takes five seconds to answer.' },
  down: { name: 'Down', what: 'It is out of order.' },
} as const;

export type Behaviour = keyof typeof behaviours;

/** The provider's present behaviour, shared by its pages and the start page, which presets it for a case. */
export type Switch = { current: Behaviour };

export const slowness = 5000;
export const anHourAgo = -3_600_000;

export function isBehaviour(text: string | null | undefined): text is Behaviour {
  return text !== null && text !== undefined && Object.hasOwn(behaviours, text);
}
