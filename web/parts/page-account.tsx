import { useMessage } from '../messages.tsx';

/** Whose account the page is about. */
export function PageAccount({ account }: { account: string | undefined }) {
  const message = useMessage();
  return account ? <p className="lede">{message('page-account', { account })}</p> : null;
}
