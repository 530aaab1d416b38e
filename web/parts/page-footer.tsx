import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { LanguageMenu } from './language-menu.tsx';

export function PageFooter() {
  const message = useMessage();
  const { links } = useVisit().page.branding;
  return (
    <footer className="floor">
      <a href={links.solutions}>{message('tagline')}</a>
      <nav aria-label={message('service-links')}>
        <a href={links.support}>{message('support')}</a>
        <a href={links.imprint}>{message('imprint')}</a>
        <LanguageMenu />
      </nav>
    </footer>
  );
}
