import type { Page } from '@playwright/test';
import { textsOf } from './texts.ts';

type Value = { value?: unknown };
type Node = {
  nodeId: string;
  ignored: boolean;
  role?: Value;
  name?: Value;
  description?: Value;
  properties?: { name: string; value: Value }[];
};

/** Roles that a person can do something with, or that a screen reader lists, and which need a name for that. */
const mustHaveName = ['button', 'link', 'textbox', 'combobox', 'checkbox', 'image', 'navigation', 'group', 'heading'];

/** Two sentences, or two words, without a space in between; a name such as JavaScript is none. */
const joined = /[\p{Ll}\p{Nd}][.!?:…]?\p{Lu}\p{Ll}/u;
const isJoined = (text: string) => joined.test(text.replaceAll('JavaScript', ''));

/** What is wrong with a page as a screen reader is told of it, one per line. */
export async function treeFaults(page: Page): Promise<string[]> {
  const tree = await treeOf(page);
  const has = (node: Node, property: string) => node.properties?.find(({ name }) => name === property)?.value.value;
  const textOf = (value?: Value) => String(value?.value ?? '');
  const ofRole = (role: string) => tree.filter((node) => textOf(node.role) === role);
  const found: string[] = [];
  for (const node of tree) {
    const [role, name, description] = [textOf(node.role), textOf(node.name), textOf(node.description)];
    if (mustHaveName.includes(role) && name.trim() === '') found.push(`a ${role} has no name`);
    for (const text of [name, description]) if (isJoined(text)) found.push(`joined: ${text}`);
    if (has(node, 'invalid') === 'true' && description === '') found.push(`nothing says what is wrong with ${name}`);
  }
  const levels = ofRole('heading').map((node) => Number(has(node, 'level')));
  if (levels.filter((level) => level === 1).length !== 1 || levels[0] !== 1) found.push(`headings: ${levels}`);
  if (levels.some((level, at) => level > (levels[at - 1] ?? 0) + 1)) found.push(`headings skip a level: ${levels}`);
  for (const landmark of ['banner', 'main', 'contentinfo', 'navigation', 'status'])
    if (ofRole(landmark).length !== 1) found.push(`${ofRole(landmark).length} of ${landmark}`);
  return found;
}

async function treeOf(page: Page): Promise<Node[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return (nodes as Node[]).filter(({ ignored }) => !ignored);
}

/** What the document itself gets wrong that no checker looks for, one per line. */
export async function documentFaults(page: Page): Promise<string[]> {
  return await page.evaluate(findDocumentFaults, frameInEnglish);
}

const { tagline, support, imprint } = textsOf('en');
/** The links and the menu of the footer. */
const frameInEnglish = [tagline, support, imprint, 'lang'].join();

/** Runs in the page. */
function findDocumentFaults(frameWanted: string): string[] {
  const faults: string[] = [];
  const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
  for (const { outerHTML } of all(
    '[title], [accesskey], [tabindex]:not([tabindex="-1"], [tabindex="0"]), video, audio',
  ))
    faults.push(`not expected: ${outerHTML}`);
  // WCAG 2.2, 1.3.5; no token exists for a recovery code, or for the name of a thing.
  for (const input of all('input:not([type=hidden], [type=checkbox])')) {
    const token = input.getAttribute('autocomplete') ?? '';
    const isKnown = /^(?:username(?: webauthn)?|email|current-password|new-password|one-time-code)$/.test(token);
    const isWithout = token === 'off' && /^(?:code-[2-6]|recovery-code|name)$/.test(input.id);
    if (!isKnown && !isWithout) faults.push(`the purpose of ${input.id} is not told: ${token}`);
  }
  // A name that is spoken contains the words that are seen (2.5.3).
  for (const control of all('[aria-label]')) {
    const seen = control.matches('a, button') ? control.innerText.trim() : '';
    if (!control.getAttribute('aria-label')?.includes(seen)) faults.push(`${seen} is not in its name`);
  }
  for (const option of all('#lang option')) if (!option.lang) faults.push(`${option.textContent} has no language`);
  // What is wrong with an entry is read with the field (3.3.1).
  for (const error of all('.error')) {
    const id = error.id || error.parentElement?.id;
    if (!document.querySelector(`[aria-invalid=true][aria-describedby~="${id}"]`)) faults.push(`${id} has no field`);
  }
  // Help is at the same place on every screen (3.2.6), as is everything else of the frame (3.2.3).
  const frame = all('.floor a, .floor select').map((part) => (part.id === 'lang' ? 'lang' : part.textContent));
  if (frame.join() !== frameWanted) faults.push(`footer: ${frame}`);
  // Nothing moves for those who want that, except for light that fades.
  for (const animation of document.getAnimations()) {
    const { animationName } = animation as CSSAnimation;
    if (!['breathe', 'wake', 'appear'].includes(animationName)) faults.push(`moves: ${animationName}`);
  }
  return faults;
}
