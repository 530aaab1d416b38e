import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from '@playwright/test';
import type { Page, PageScreen } from '#contract/page.ts';

const renderer = fileURLToPath(new URL('render-page.ts', import.meta.url));

/** Pages without an address of their own that no stage leads to; shown in place of a failure page. */
const serverPages = {
  notForYou: { name: 'notForYou', username: 'ada.lovelace@wasserwirtschaftsverband.example', comesBackTo: '/app/' },
  leaving: { name: 'leaving', isSignOut: false, url: 'https://provider.test/', provider: 'Entra ID of the North' },
  problem: { name: 'problem', status: 429, retryAfterSeconds: 90 },
} satisfies { [Name in PageScreen['name']]?: PageScreen };

export const serverPageNames = Object.keys(serverPages) as (keyof typeof serverPages)[];

/** Where `showServerPages` shows one. */
export const serverPageUrl = (name: keyof typeof serverPages) => `/portal/loginfail/ip?serverPage=${name}`;

/** Has the browser show them as the product renders them, with the headers that its documents have. */
export async function showServerPages(context: BrowserContext): Promise<void> {
  for (const name of serverPageNames) await showServerPage(context, serverPageUrl(name), serverPages[name]);
}

/** Has the browser show one at an address of a screen. */
async function showServerPage(context: BrowserContext, url: string, screen: PageScreen): Promise<void> {
  const isAsked = ({ pathname, search }: URL) => pathname + search === url;
  await context.route(isAsked, async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const page = JSON.parse(
      /<script type="application\/json" id="page">(.*?)<\/script>/s.exec(text)?.[1] ?? '',
    ) as Page;
    const reference = screen.name === 'problem' ? 'K7Q2-M4XD' : null;
    const input = JSON.stringify({ ...page, reference, screen });
    const body = execFileSync(process.execPath, [renderer], { input, encoding: 'utf8' });
    // The page on the way to a provider is looked at, so it stays.
    await route.fulfill({ response, body: body.replace(/<meta http-equiv="refresh"[^>]*>/, '') });
  });
}

/** Opens addresses with a notice of the account page as if our own page had led there: it shows none to anybody else. */
export async function comeFromOwnPage(context: BrowserContext): Promise<void> {
  await context.route(/\/portal\/account\b.*[?&]notice=/, async (route) => {
    const headers = { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' };
    await route.fulfill({ response: await route.fetch({ headers }) });
  });
}
