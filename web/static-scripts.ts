// The two scripts inside a document that is written to a file. Each is a function whose text stands in the document, so it
// reaches nothing outside itself.

/**
 * In the head: finds the visitor's language, and hides the document until its part in that language is in place
 * (`prepareStaticPage`). Without it, the first language is shown.
 */
export function chooseLanguage(languages: readonly string[], publicHash: RegExp): void {
  const root = document.documentElement;
  const asked = /[?&]lang=([^&]*)/;
  const found = (publicHash.test(location.hash) && asked.exec(location.hash)) || asked.exec(location.search);
  const known = [found ? found[1] : '', ...(navigator.languages || [])]
    .map((tag) => (tag || '').split(/[-_]/)[0]?.toLowerCase() || '')
    .filter((language) => languages.indexOf(language) >= 0);
  const language = known[0] || root.lang;
  if (language === root.lang) return;
  root.lang = language;
  root.hidden = true;
  document.addEventListener('DOMContentLoaded', () => {
    root.hidden = false;
  });
}

/**
 * Before the script of the pages: puts the chosen language in place, and tells the page its origin. Content that the
 * script is about to replace, because of the address, is held back, so that nothing typed into it is lost; not for long,
 * and not if the script does not come.
 */
export function prepareStaticPage(publicHash: RegExp): void {
  const root = document.documentElement;
  const chosen = document.querySelector<HTMLTemplateElement>(`template[lang=${root.lang}]`);
  if (chosen) {
    document.title = chosen.title;
    for (const part of [...chosen.content.children]) document.getElementById(part.id)?.replaceWith(part);
  }
  root.hidden = false;
  const data = document.getElementById('page') as Element;
  const page = JSON.parse(data.textContent ?? '');
  page.rules.origin = location.origin;
  const isOther = page.url[0] !== '/' || location.search !== page.url.replace(/^[^?]*/, '');
  if (!page.serverPage && (isOther || publicHash.test(location.hash))) {
    // Not an address of any document, so that the script renders its own.
    page.url = '?';
    const show = (visibility: string) => {
      const main = document.querySelector('main');
      if (main) main.style.visibility = visibility;
    };
    show('hidden');
    setTimeout(show, 4000, '');
    addEventListener('error', () => show(''), true);
  }
  // Not a script: changing the text of one violates the policy (Trusted Types), data or not; Firefox says so.
  const changed = document.createElement('template');
  changed.id = data.id;
  changed.textContent = JSON.stringify(page);
  data.replaceWith(changed);
}
