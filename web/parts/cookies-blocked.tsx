import { useIsScripted } from '../is-scripted.ts';
import { useMessage } from '../messages.tsx';
import { Alert } from './alert.tsx';

/** Shown before the attempt: without the cookie, signing in would only lead back here (decisions §13). */
export function CookiesBlocked() {
  const message = useMessage('cookies-blocked-title', 'cookies-blocked-text');
  const isScripted = useIsScripted();
  if (!isScripted || navigator.cookieEnabled) return null;
  return (
    <Alert kind="bad" title={message('cookies-blocked-title')}>
      {message('cookies-blocked-text')}
    </Alert>
  );
}
