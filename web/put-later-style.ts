import laterScreens from './styles/later-screens.css?inline';

/**
 * Gives the document the style of later screens unless it came with it. The text is the one whose hash the policy admits.
 */
export function putLaterStyle(): void {
  if ([...document.querySelectorAll('style')].some(({ textContent }) => textContent === laterScreens)) return;
  const style = document.createElement('style');
  style.textContent = laterScreens;
  document.head.append(style);
}
