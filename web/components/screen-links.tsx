import { type MouseEvent, type ReactNode, useState } from 'react';
import { destinationAfterTwoFactor, destinationInLanguage, destinationToCarry } from '#contract/destination.ts';
import type { PlainScreen } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import type { MessageKey } from '../messages.ts';
import { type CallFailure, logOut } from '../server-calls.ts';
import { isPlainClick, PortalLink } from './links.tsx';
import { Alert } from './notice.tsx';

/** Ends the half-signed-in session and goes to the sign-in form. The children are additional links. */
export function ChangeUserLinks({ textKey, children }: { textKey: MessageKey; children?: ReactNode }) {
  const { message, page, leave, comeBack, secondFactor, toCall } = useApp();
  const { destination, url } = useSignInAgain();
  // “Not you?” belongs beside the name.
  const whose = textKey === 'twofa-change-user' ? secondFactor?.account : undefined;
  const [failure, setFailure] = useState<CallFailure | null>(null);

  async function onClick(event: MouseEvent) {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    if (!leave('please-wait')) return;
    const outcome = await logOut(page.rules.basePath);
    if (outcome === 'done') return location.assign(url);
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

type LinkProps = { className?: string; children?: ReactNode };

/** A link to a screen; `children` in place of its usual text. */
function linkTo(screen: PlainScreen, text: MessageKey, { isDocument = false } = {}) {
  return function ScreenLink({ className, children }: LinkProps) {
    const { message, toScreen } = useApp();
    return (
      <PortalLink className={className} href={toScreen(screen)} isDocument={isDocument}>
        {children ?? message(text)}
      </PortalLink>
    );
  };
}

export const LoginLink = linkTo('login', 'return-to-login');
export const ForgottenLink = linkTo('forgotten', 'change-failed-new-link');
/** Only the server knows what is kept for this browser: the link of a new password, and its account. */
export const ChooseLink = linkTo('forgottenChange', 'change-failed-choose', { isDocument: true });

type SupportProps = { className?: string; text?: 'contact-support' | 'login-fail-ip-support' | undefined };

export function SupportLink({ className, text = 'contact-support' }: SupportProps) {
  const { message, page } = useApp();
  return (
    <PortalLink isDocument className={className} href={page.branding.links.support}>
      {message(text)}
    </PortalLink>
  );
}

/** Leaves a second factor: to the sign-in form, or to the destination if the factor is optional. */
export function ExitLink({ textKey, children }: { textKey: MessageKey; children?: ReactNode }) {
  const { message, page, saved, save, askedLanguage, secondFactor } = useApp();
  const isScripted = useIsScripted();
  const destination = secondFactor?.goesOnTo;
  if (destination === undefined) return <ChangeUserLinks textKey={textKey}>{children}</ChangeUserLinks>;
  // The tab may know more of it than the server: the fragment.
  const known = isScripted ? destinationAfterTwoFactor(saved, page.rules) : destination;
  const href = destinationInLanguage(known, page.rules.basePath, askedLanguage);
  return (
    <p className="links">
      <PortalLink href={href} isDocument onLeave={() => save({ loginHashFragment: null })}>
        {message(textKey)}
      </PortalLink>
    </p>
  );
}

/** The sign-in form for starting again, with the same destination. */
export function useSignInAgain() {
  const { page, toScreen, asked } = useApp();
  const destination = destinationToCarry(asked('redirectUrl'), page.rules);
  return { destination, url: toScreen('login', { destination }) };
}
