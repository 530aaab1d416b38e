import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../addresses.ts';
import { useApp, useMessage, usePortalUrls, useSecondFactor } from '../app-context.ts';
import { CodeForm } from '../components/code-form.tsx';
import { Heading } from '../components/heading.tsx';
import { PortalLink } from '../components/links.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { RecoveryForm } from '../components/recovery-form.tsx';
import { isCodeSentViaEmail, isRecovery } from '../screen-title.ts';

export function TwoFactor() {
  const message = useMessage();
  const { place } = useApp();
  const secondFactor = useSecondFactor();
  const isEmail = isCodeSentViaEmail(place.search);
  const asksRecovery = !isEmail && isRecovery(place.search, secondFactor);
  const otherWay = secondFactor?.mayRecover && <OtherWay isRecovery={!asksRecovery} />;
  const head = (
    <>
      <Heading />
      {!secondFactor?.isCodeNotSent && (
        <p className="lede">{message(isEmail ? 'twofa-email-text' : asksRecovery ? 'recovery-text' : 'twofa-text')}</p>
      )}
    </>
  );
  if (asksRecovery) return <RecoveryForm head={head} links={otherWay} />;
  return (
    <>
      <CodeForm head={head} cancelKey="twofa-change-user" links={otherWay} />
      {secondFactor?.hasPasskey && <PasskeyForm isSecondFactor />}
    </>
  );
}

/** Switches between recovery code and app code; the address differs only in this. */
function OtherWay({ isRecovery }: { isRecovery: boolean }) {
  const message = useMessage();
  const { place } = useApp();
  const { toScreen } = usePortalUrls();
  const query = {
    [queryNames.redirectUrl]: parameterOf(place.search, queryNames.redirectUrl) ?? undefined,
    [queryNames.recovery]: isRecovery ? 'true' : undefined,
  };
  return (
    <PortalLink href={toScreen('twoFactor', query)}>
      {message(isRecovery ? 'twofa-use-recovery' : 'twofa-use-app')}
    </PortalLink>
  );
}
