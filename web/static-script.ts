/**
 * The script inside a document that is written to a file; its text stands in the document, so it reaches nothing outside
 * itself. Before the script of the pages, it tells the page its origin. Content that the script is about to replace, because
 * of the address, is held back, so that nothing typed into it is lost; not for long, and not if the script does not come.
 */
export function prepareStaticPage(publicHash: RegExp): void {
  const data = document.getElementById('page') as Element;
  const page = JSON.parse(data.textContent ?? '');
  page.rules.origin = location.origin;
  const isOther = page.url[0] !== '/' || location.search !== page.url.replace(/^[^?]*/, '');
  if (page.screen.name !== 'problem' && (isOther || publicHash.test(location.hash))) {
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
