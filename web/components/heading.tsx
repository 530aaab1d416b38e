import { useMessage } from '../messages.tsx';
import { titleKey } from '../screen-title.ts';
import { useVisit } from '../visit.ts';
import { TitleHeading } from './title-heading.tsx';

/** The heading of the current place, for the screens of the second script: the first one needs only its own. */
export function Heading({ prefix }: { prefix?: string }) {
  const { place, page } = useVisit();
  return <TitleHeading titleKey={titleKey(place, page)} prefix={prefix} />;
}

/** Whose account the page is about. */
export function PageAccount({ account }: { account: string | undefined }) {
  const message = useMessage();
  return account ? <p className="lede">{message('page-account', { account })}</p> : null;
}
