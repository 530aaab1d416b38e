import { type MouseEvent, type ReactNode, useState } from 'react';
import { type MessageKey, useMessage } from '../messages.tsx';
import { isPlainClick } from '../plain-click.ts';
import { usePortalUrls } from '../portal-urls.ts';
import { type CallFailure, logOut } from '../server-calls.ts';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';
import { LoginLink } from './login-link.tsx';
import { useSignInAgain } from './sign-in-again.ts';

/**
 * Ends the half-signed-in session and goes to the sign-in form; without JavaScript a plain link does. The children are
 * additional links.
 */
export function ChangeUserLinks({ textKey, children }: { textKey: MessageKey; children?: ReactNode }) {
  const message = useMessage('twofa-something-went-wrong', 'return-to-login');
  const { page, leave, comeBack } = useVisit();
  const { toCall } = usePortalUrls();
  const { destination, url } = useSignInAgain();
  // “Not you?” belongs beside the name.
  const whose = textKey === 'twofa-change-user' ? page.secondFactor?.account : undefined;
  const [failure, setFailure] = useState<CallFailure | null>(null);

  async function onClick(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (!leave('please-wait')) return;
    const outcome = await logOut(page.rules.basePath);
    if (outcome === 'done') return location.assign(url());
    console.error('twofa-something-went-wrong');
    setFailure(outcome);
    comeBack();
  }

  return (
    <>
      {failure && (
        <Alert kind="bad" answerTo={failure}>
          {message('twofa-something-went-wrong')}
        </Alert>
      )}
      <p className="links">
        {children}
        <span>
          {whose !== undefined && <bdi>{whose}</bdi>}{' '}
          <a href={toCall('logout', { destination })} onClick={onClick}>
            {message(textKey)}
          </a>
        </span>
        {failure && <LoginLink />}
      </p>
    </>
  );
}
