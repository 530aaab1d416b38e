import { type MouseEvent, useState } from 'react';
import { queryNames } from '#contract/screens.ts';
import { type MessageKey, useMessage } from '../messages.tsx';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { type CallFailure, logOut } from '../server-calls.ts';
import { useVisit } from '../visit.ts';
import { Alert } from './alert.tsx';
import { LoginLink } from './login-link.tsx';

/** Ends the half-signed-in session and goes to the sign-in form; without script a plain link does the same. */
export function ChangeUserLinks({ textKey }: { textKey: MessageKey }) {
  const message = useMessage();
  const { page, place, leave, comeBack, goToDocument } = useVisit();
  const { toCall, toScreen } = usePortalUrls();
  const [failure, setFailure] = useState<CallFailure | null>(null);

  // Whoever signs in next still wants to go where this one did.
  const destination = parameterOf(place.search, queryNames.redirectUrl) ?? undefined;

  async function onClick(event: MouseEvent) {
    event.preventDefault();
    if (!leave('please-wait')) return;
    const outcome = await logOut(page.rules.basePath);
    if (outcome === 'done') return goToDocument(toScreen('login', { destination }));
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
        <a href={toCall('logout', { destination })} onClick={onClick}>
          {message(textKey)}
        </a>
        {failure && <LoginLink />}
      </p>
    </>
  );
}
