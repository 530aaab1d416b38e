import { useEffect, useState } from 'react';
import { isEmailAddress } from '#contract/addresses.ts';
import { destinationToCarry, redirectValue } from '#contract/destination.ts';
import type { Page, ScreenOf } from '#contract/page.ts';
import { brokenPasswordRules } from '#contract/password-rules.ts';
import { type ChangeFailedReason, reasonOfSearch } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, parameterOf, placeOfUrl } from '../addresses.ts';
import { useApp } from '../app-context.ts';
import { CallForm } from '../components/call-form.tsx';
import { EmailField, UsernameField } from '../components/checked-field.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { NewPasswordFields } from '../components/new-password-fields.tsx';
import { Alert, Notice } from '../components/notice.tsx';
import { fieldValue, isFilled, PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { Reference } from '../components/reference.tsx';
import { ChooseLink, ForgottenLink, LoginLink, SupportLink } from '../components/screen-links.tsx';
import { useIsScripted } from '../is-scripted.tsx';
import type { SavedValues } from '../saved-values.ts';
import { askForReset, type CallFailure } from '../server-calls.ts';

/** Autofilled values hidden from scripts are checked on submit. */
function isReady(form: HTMLFormElement): boolean {
  const value = fieldValue(form, 'username');
  return isEmailAddress(value) || (value === '' && isFilled(form, 'username'));
}

export function Forgotten() {
  const { message, page, saved, goTo, comeBack, toScreen, toCall, asked } = useApp();
  const [failure, setFailure] = useState<CallFailure>();

  // The email's link leads there, in another browser too.
  const wanted = redirectValue(saved, asked('destination'), page.rules);
  const query = { destination: destinationToCarry(wanted, page.rules) };

  async function send(form: HTMLFormElement) {
    const outcome = await askForReset(toCall('passwordForgotten', query), fieldValue(form, 'username'));
    if (outcome === 'done') return goTo(toScreen('emailInfo'), 'replace');
    console.error('general-error-something-went-wrong');
    setFailure(outcome);
    comeBack();
  }

  return (
    <>
      <Heading>{message('forgotten-text')}</Heading>
      <CallForm call="passwordForgotten" query={query} said={failure} isReady={isReady} onSend={send}>
        <EmailField />
        <SubmitButton>{message('forgotten-button')}</SubmitButton>
        <p className="links">
          <LoginLink />
        </p>
      </CallForm>
    </>
  );
}

export function EmailInfo() {
  const { message, toScreen } = useApp();
  return (
    <>
      <Heading icon="mail">{message('email-info-text')}</Heading>
      <div className="stack">
        <Alert title={message('email-info-wait-title')}>{message('email-info-wait-text')}</Alert>
        <LoginLink className="button quiet" />
        <p className="links">
          <PortalLink href={toScreen('forgotten')}>{message('email-info-again')}</PortalLink>
          <SupportLink />
        </p>
      </div>
    </>
  );
}

export function ForgottenChangedInfo() {
  const { message, asked } = useApp();
  return (
    <>
      <Heading icon="check" kind="good">
        {message(asked('destination') ? 'changed-onwards' : 'changed-text')}
      </Heading>
      <div className="stack">
        <LoginLink className="button" />
      </div>
    </>
  );
}

export function ForgottenChange({ resetHash }: ScreenOf<'forgottenChange'>) {
  const { message, place, saved, page, save, asked } = useApp();
  const [isReasonMet, setReasonMet] = useState(false);
  const isScripted = useIsScripted();
  const reason = reasonOfSearch(place.search);
  const link = resetLinkOf(page, place, saved, resetHash);
  const isMissing = link.hash === '' && reason !== 2;
  const destination = destinationToCarry(asked('destination'), page.rules);

  // No address of a refused sign-in carries a fragment; the tab keeps it, as it does where the link was asked for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the address that the link had
  useEffect(() => {
    if (destination?.includes('#')) save({ loginHashFragment: destination, loginHashFragmentFrom: 'redirectURL' });
  }, []);

  function isReady(form: HTMLFormElement): boolean {
    const [password, repeat] = [fieldValue(form, 'password'), fieldValue(form, 'repeat')];
    const isSound = brokenPasswordRules(password, repeat, page.passwordPolicy).length === 0;
    if (isSound) setReasonMet(true);
    return isSound;
  }

  // Without a link no password can be set: said before the visitor fills in two fields in vain. Until the script runs it is
  // unknown what this tab has saved.
  const missing = (
    <Alert title={message('change-no-link-title')}>
      {message('change-no-link-text')} <ForgottenLink />
    </Alert>
  );
  return (
    <>
      <Heading />
      <PageAccount account={link.username} />
      <Notice />
      {(reason === 1 || reason === 2) && !isReasonMet && (
        <Alert kind="bad" id="why">
          {message(`password-page-error-${reason}`)} {reason === 2 && <ForgottenLink />}
        </Alert>
      )}
      {isMissing && (isScripted ? missing : <noscript>{missing}</noscript>)}
      {!(isMissing && isScripted) && (
        <PortalForm call="passwordChange" query={{ [queryNames.destination]: destination }} isReady={isReady}>
          <input type="hidden" name="hash" value={link.hash} />
          <UsernameField username={link.username} />
          <NewPasswordFields isFirst={reason !== 2} />
          <SubmitButton>{message('change-button')}</SubmitButton>
        </PortalForm>
      )}
      <p className="links">
        <LoginLink />
      </p>
      <Reference />
    </>
  );
}

/** The link of the address, else of this tab, else of this browser. The server's name is of the link that it saw. */
export function resetLinkOf(page: Page, place: Place, saved: SavedValues, resetHash = '') {
  const seenByServer = parameterOf(placeOfUrl(page.url, page.rules.basePath).search, queryNames.hash) || resetHash;
  const hash = parameterOf(place.search, queryNames.hash) || saved.passwordHashParameter || resetHash;
  return { hash, username: hash !== '' && hash === seenByServer ? page.typedUsername : '' };
}

/** After these another password helps, after these support; after the others, and without one, a new link. */
const choose: readonly unknown[] = [null, 1, 5, 6, 9, 11] satisfies (ChangeFailedReason | null)[];
const support: readonly unknown[] = [7, 8, 10] satisfies ChangeFailedReason[];

export function ForgottenChangeFailedInfo() {
  const { message, place } = useApp();
  const reason = reasonOfSearch(place.search);
  const isToChoose = choose.includes(reason);
  const isForSupport = support.includes(reason);
  return (
    <>
      <Heading icon="bang" kind="bad">
        {message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}
      </Heading>
      <div className="stack">
        {isToChoose && <ChooseLink className="button" />}
        {!isToChoose && !isForSupport && <ForgottenLink className="button" />}
        {isForSupport && <SupportLink className="button" />}
        <p className="links">
          {!isToChoose && <ChooseLink />}
          <LoginLink />
          {!isForSupport && <SupportLink />}
        </p>
        <Reference />
      </div>
    </>
  );
}
