import { useEffect, useState } from 'react';
import { destinationToCarry } from '#contract/destination.ts';
import type { PageScreen } from '#contract/page.ts';
import { brokenPasswordRules } from '#contract/password-rules.ts';
import { type ChangeFailedReason, reasonOfSearch } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../addresses.ts';
import { useApp, useMessage } from '../app-context.ts';
import { UsernameField } from '../components/checked-field.tsx';
import { Heading, PageAccount } from '../components/heading.tsx';
import { Alert, Notice } from '../components/notice.tsx';
import { PasswordChecks, PasswordErrors, RepeatCheck, StrengthMeter } from '../components/password-checks.tsx';
import { fieldValue, PortalForm, SubmitButton } from '../components/portal-form.tsx';
import { Reference } from '../components/reference.tsx';
import { PasskeyInstead, ResetLinkMissing, resetLinkOf } from '../components/reset-link.tsx';
import { ChooseLink, ForgottenLink, LoginLink, SupportLink } from '../components/screen-links.tsx';
import { Seal } from '../components/seal.tsx';
import { PasswordField } from '../components/text-field.tsx';

export function ForgottenChange({ resetHash, invitation }: Extract<PageScreen, { name: 'forgottenChange' }>) {
  const message = useMessage();
  const { place, saved, page, save } = useApp();
  const { passwordPolicy } = page;
  const [entries, setEntries] = useState({ password: '', repeat: '' });
  const [isReasonMet, setReasonMet] = useState(false);
  const [touched, setTouched] = useState({ password: false, repeat: false });
  const broken = brokenPasswordRules(entries.password, entries.repeat, passwordPolicy);
  const reason = reasonOfSearch(place.search);
  const link = resetLinkOf(page, place, saved, resetHash);
  const destination = destinationToCarry(parameterOf(place.search, queryNames.destination), page.rules);
  const shown = touched.password && touched.repeat ? broken : [];
  const shownOfPassword = shown.filter((rule) => rule !== 'match');
  const shownOfRepeat = shown.filter((rule) => rule === 'match');

  // No address of a refused sign-in carries a fragment; the tab keeps it, as it does where the link was asked for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for the address that the link had
  useEffect(() => {
    if (destination?.includes('#')) save({ loginHashFragment: destination, loginHashFragmentFrom: 'redirectURL' });
  }, []);

  /** The current form values: a browser may have filled them in before the script ran. */
  function isReady(form: HTMLFormElement): boolean {
    const now = { password: fieldValue(form, 'password'), repeat: fieldValue(form, 'repeat') };
    setEntries((last) => (last.password === now.password && last.repeat === now.repeat ? last : now));
    const isSound = brokenPasswordRules(now.password, now.repeat, passwordPolicy).length === 0;
    if (isSound) setReasonMet(true);
    return isSound;
  }

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
      {link.hash === '' && reason !== 2 && <ResetLinkMissing />}
      {invitation === 'passkey' && <PasskeyOnly />}
      {invitation !== 'passkey' && (
        <PortalForm call="passwordChange" query={{ [queryNames.destination]: destination }} isReady={isReady}>
          <input type="hidden" name="hash" value={link.hash} />
          <UsernameField username={link.username} />
          <PasswordField
            id="password"
            label={message('change-password')}
            autoComplete="new-password"
            autoFocus={reason !== 2}
            aria-describedby="why password-errors password-checks"
            aria-invalid={shownOfPassword.length > 0}
            onBlur={() => setTouched((now) => ({ ...now, password: true }))}
          >
            <PasswordErrors id="password-errors" broken={shownOfPassword} policy={passwordPolicy} />
            <StrengthMeter password={entries.password} />
            <PasswordChecks password={entries.password} broken={broken} policy={passwordPolicy} />
          </PasswordField>
          <PasswordField
            id="repeat"
            label={message('change-repeat')}
            autoComplete="new-password"
            aria-describedby="repeat-errors repeat-check"
            aria-invalid={shownOfRepeat.length > 0}
            onBlur={() => setTouched((now) => ({ ...now, repeat: true }))}
          >
            <PasswordErrors id="repeat-errors" broken={shownOfRepeat} policy={passwordPolicy} />
            <RepeatCheck isMet={entries.repeat !== '' && !broken.includes('match')} />
          </PasswordField>
          <SubmitButton>{message('change-button')}</SubmitButton>
        </PortalForm>
      )}
      {invitation && invitation !== 'password' && (
        <PasskeyInstead link={link} destination={destination} isQuiet={invitation === 'choice'} />
      )}
      <p className="links">
        <LoginLink />
      </p>
      <Reference />
    </>
  );
}

/** Where only a passkey signs in; the alert goes once the script can make one. */
function PasskeyOnly() {
  const message = useMessage();
  return (
    <>
      <p className="lede">{message('passkey-how')}</p>
      <div data-without>
        <Alert title={message('passkey-no-script-title')}>{message('passkey-no-script')}</Alert>
      </div>
    </>
  );
}

/** After these another password helps, after these support; after the others, and without one, a new link. */
const choose: readonly unknown[] = [null, 1, 5, 6, 9, 11] satisfies (ChangeFailedReason | null)[];
const support: readonly unknown[] = [7, 8, 10] satisfies ChangeFailedReason[];

export function ForgottenChangeFailedInfo() {
  const message = useMessage();
  const { place } = useApp();
  const reason = reasonOfSearch(place.search);
  const isToChoose = choose.includes(reason);
  const isForSupport = support.includes(reason);
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message(reason ? `changed-failed-page-error-${reason}` : 'changed-failed-page-error')}</p>
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
