import { useApp } from '../app-context.ts';
import { titleKey } from '../screen-title.ts';
import { TitleHeading } from './title-heading.tsx';

/** The heading of the current place, for the screens of the second script: the first one needs only its own. */
export function Heading({ prefix }: { prefix?: string }) {
  const { place, screen } = useApp();
  return <TitleHeading titleKey={titleKey(screen, place.search)} prefix={prefix} />;
}

/** Whose account the page is about. */
export function PageAccount({ account }: { account: string | undefined }) {
  const { message } = useApp();
  return account ? <p className="lede">{message('page-account', { account })}</p> : null;
}
