import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { LanguageMenu } from './language-menu.tsx';
import { OutsideLink } from './outside-link.tsx';

export function PageFooter() {
  const message = useMessage();
  const { links } = useVisit().page.branding;
  return (
    <footer className="floor">
      <OutsideLink href={links.solutions}>{message('tagline')}</OutsideLink>
      <nav aria-label={message('service-links')}>
        <OutsideLink href={links.support}>{message('support')}</OutsideLink>
        <OutsideLink href={links.imprint}>{message('imprint')}</OutsideLink>
        <LanguageMenu />
      </nav>
    </footer>
  );
}
