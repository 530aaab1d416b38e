import { useIsScripted } from '../is-scripted.ts';
import { useMessage } from '../messages.tsx';
import { Alert } from './alert.tsx';
import { ForgottenLink } from './forgotten-link.tsx';

/** Without a link no password can be set: shown before the visitor fills in two fields in vain. */
export function ResetLinkMissing() {
  const message = useMessage();
  const isScripted = useIsScripted();
  const alert = (
    <Alert title={message('change-no-link-title')}>
      {message('change-no-link-text')} <ForgottenLink />
    </Alert>
  );
  // Until the script runs it is unknown what this tab has saved.
  return isScripted ? alert : <noscript>{alert}</noscript>;
}
