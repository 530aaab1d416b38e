import type { Page } from '@playwright/test';

/** Once the page fades. Ask before it does: Playwright looks at no page that another one is about to replace. */
export async function fadeOf(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((fades) => {
        const main = document.querySelector('main') as HTMLElement;
        const look = () => main.getAttribute('aria-busy') === 'true' && fades();
        new MutationObserver(look).observe(main, { attributes: true });
      }),
  );
}
