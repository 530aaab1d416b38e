import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from '@playwright/test';
import type { Language } from '#contract/languages.ts';
import { mailKinds } from '#server/people/mail-kinds.ts';
import { colorSchemes, galleryFolder, type Shot, shotPath } from './shots.ts';
import { mailWidths } from './take-mail-shots.ts';
import { screenNames, screenSizes } from './take-screen-shots.ts';

type Sheet = { of: Shot['of']; names: readonly string[]; widths: readonly number[]; scale: number };

const sheets: Sheet[] = [
  { of: 'screens', names: screenNames, widths: screenSizes.map(({ width }) => width), scale: 0.3 },
  { of: 'mails', names: mailKinds, widths: mailWidths, scale: 0.45 },
];

/** Puts the shots of each language on two contact sheets, as pictures and as pages with links to the single shots. */
export async function makeSheets(browser: Browser, languages: readonly Language[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 2420, height: 800 } });
  for (const language of languages) {
    for (const sheet of sheets) {
      const file = new URL(`${sheet.of}-${language}`, galleryFolder).href;
      writeFileSync(new URL(`${file}.html`), sheetPage(sheet, language));
      await page.goto(`${file}.html`, { waitUntil: 'load' });
      await page.screenshot({ path: fileURLToPath(`${file}.png`), fullPage: true });
    }
  }
  await page.close();
}

function sheetPage({ of, names, widths, scale }: Sheet, language: Language): string {
  const cards = names.map((name) => {
    const shots = widths.flatMap((width) =>
      colorSchemes.map((scheme) => {
        const path = shotPath({ of, language, name, width, scheme });
        return `<a href="${path}"><img src="${path}" width="${Math.round(width * scale)}" alt="${width} px, ${scheme}"></a>`;
      }),
    );
    return `<section><h2>${name}</h2>${shots.join('')}</section>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${of}, ${language}</title>
<style>
body { margin: 24px; display: flex; flex-wrap: wrap; gap: 24px; font: 14px sans-serif; background: #8a8f98 }
section { padding: 12px; background: #fff; border-radius: 8px }
h2 { margin: 0 0 8px; font: inherit }
img { margin-right: 8px; vertical-align: top }
</style>
${cards.join('\n')}
</html>
`;
}
