import { accountPath } from '#contract/account.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { PortalLink } from './portal-link.tsx';

/** For somebody who is signed in. The account page is a document of its own. */
export function AccountLink() {
  const message = useMessage();
  return (
    <PortalLink href={useVisit().page.rules.basePath + accountPath} isDocument>
      {message('your-account')}
    </PortalLink>
  );
}
