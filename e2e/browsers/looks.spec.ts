import type { Locator, Page } from '@playwright/test';
import { codeForm } from '../code-form.ts';
import { signInForm } from '../sign-in-form.ts';
import { expect, password, test } from '../test.ts';
import { textsOf } from '../texts.ts';

// Whether old browsers draw what people have to see; what they do is in journeys.spec.ts.

const texts = textsOf('en');

test.describe('in old browsers, as in the one of today,', { tag: '@old' }, () => {
  for (const colorScheme of ['light', 'dark'] as const)
    test(`fields, buttons and the focus are visible, ${colorScheme}`, async ({ page, newPersonWithApp }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto('/portal/login');
      const { username, password: secret, button } = signInForm(page);
      const control = page.locator('.control').first();
      const door = await colour(page.locator('.door'), 'backgroundImage');
      expect(door).toMatch(/gradient/);
      await secret.focus();
      const atRest = await look(control);
      expect(atRest.edge, 'the edge of a field').not.toBe(transparent);
      expect(atRest.face, 'the face of a field').not.toBe(transparent);
      await username.focus();
      const focused = await look(control);
      expect(focused.edge, 'the edge of a field that has the focus').not.toBe(atRest.edge);
      expect(focused.shadow, 'the ring').toMatch(/inset/);
      await signInForm(page).fill('ada', password);
      await expect(button).toBeEnabled();
      const pressable = await look(button);
      expect(pressable.face, 'the face of a button').not.toBe(transparent);
      expect(pressable.face).not.toBe(pressable.text);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await expect(page.getByRole('link', { name: texts['login-forgotten'] })).toBeFocused();
      const link = await look(page.getByRole('link', { name: texts['login-forgotten'] }));
      expect(link.outline).toMatch(/^solid 2px/);
      expect(link.outline).not.toContain(transparent);

      const person = await newPersonWithApp();
      await page.goto('/portal/login');
      await signInForm(page).send(person.username, password);
      const box = codeForm(page).box(1);
      await expect(box).toBeFocused();
      const looked = await look(box);
      expect(looked.edge).not.toBe(transparent);
      expect(looked.outline).toMatch(/^solid 2px/);
      expect((await look(codeForm(page).box(2))).edge).not.toBe(transparent);
    });
});

/**
 * Playwright finds and watches elements with features of Chromium 105 and later; in older ones the page itself is
 * queried.
 */
test.describe('in the oldest browsers, as in the one of today,', { tag: '@oldest' }, () => {
  for (const colorScheme of ['light', 'dark'] as const)
    test(`fields and the focus are visible, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto('/portal/login');
      await focus(page, 'password');
      const parts = await page.evaluate(() =>
        [...document.querySelectorAll('.control')].map((node) => {
          const { borderTopColor, borderTopStyle, backgroundColor, boxShadow } = getComputedStyle(node);
          return { edge: borderTopColor, borderTopStyle, face: backgroundColor, boxShadow };
        }),
      );
      expect(parts).toHaveLength(2);
      for (const { edge, borderTopStyle, face } of parts) {
        expect([edge, face]).not.toContain(transparent);
        expect(borderTopStyle).toBe('solid');
      }
      expect(parts[0]?.boxShadow).toBe('none');
      expect(parts[1]?.boxShadow).toMatch(/inset/);
      expect(parts[1]?.edge).not.toBe(parts[0]?.edge);
    });
});

async function focus(page: Page, id: string): Promise<void> {
  // The eye beside a password appears once the script works.
  await page.waitForFunction(() => document.querySelector('.peek'));
  await page.evaluate((id) => document.getElementById(id)?.focus(), id);
}

const transparent = 'rgba(0, 0, 0, 0)';

const colour = (element: Locator, property: 'backgroundImage') =>
  element.evaluate((node, name) => getComputedStyle(node)[name], property);

/** How an element is drawn; a value unknown to the browser leaves it transparent or missing. */
async function look(part: Locator) {
  return await part.evaluate((node) => {
    const style = getComputedStyle(node);
    const hasEdge = style.borderTopStyle === 'solid' && style.borderTopWidth !== '0px';
    return {
      edge: hasEdge ? style.borderTopColor : 'rgba(0, 0, 0, 0)',
      face: style.backgroundColor,
      text: style.color,
      shadow: style.boxShadow,
      outline: `${style.outlineStyle} ${style.outlineWidth} ${style.outlineColor}`,
    };
  });
}
