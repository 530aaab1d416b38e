import { accountPath } from '#contract/account.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';

/** For somebody who is signed in. A plain link: the account page is a document of its own. */
export function AccountLink() {
  const message = useMessage();
  return <a href={useVisit().page.rules.basePath + accountPath}>{message('your-account')}</a>;
}
