import { useEffect, useRef, useState } from 'react';
import { useApp } from '../app-context.ts';
import { useIsScripted } from '../is-scripted.tsx';
import { whenIdle } from '../when-idle.ts';
import { PortalForm, RedirectField } from './portal-form.tsx';

/** The script of ceremonies, for the screens of both scripts. */
export const loadCeremony = () => import('../passkeys/ceremony.ts');

/** The button that asks for a passkey, and on the sign-in form the offer in the field. `isSecondFactor`: as a code. */
export function PasskeyForm({ isSecondFactor = false }: { isSecondFactor?: boolean }) {
  const { message, toCall, page, leave, comeBack, notice } = useApp();
  const [isNone, setIsNone] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const isScripted = useIsScripted();
  const isShown = isScripted && page.passkeys && typeof PublicKeyCredential !== 'undefined';
  const options = toCall(isSecondFactor ? 'passkeyFactorOptions' : 'passkeyOptions');

  function send(answer: string | null): void {
    if (!field.current) return;
    field.current.value = answer ?? '';
    if (answer) field.current.form?.submit();
    else comeBack();
    setIsNone(!answer);
  }

  // The page was inert, so that the button lost the focus.
  useEffect(() => {
    if (isNone) field.current?.form?.querySelector('button')?.focus();
  }, [isNone]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    // While the database is away there is nothing to offer.
    if (!isShown || isSecondFactor || notice === 'unavailable') return;
    const over = new AbortController();
    whenIdle(() => offer(over.signal).catch(() => {}));
    return () => over.abort();
  }, [isShown]);

  async function offer(signal: AbortSignal): Promise<void> {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    const answer = await (await loadCeremony()).offerPasskeys(options, signal);
    if (answer && leave('signing-in')) send(answer);
  }

  if (isScripted ? !isShown : !page.passkeys) return null;
  return (
    <PortalForm
      call={isSecondFactor ? 'passkeyFactor' : 'passkeySignIn'}
      word="signing-in"
      onSend={() => {
        setIsNone(false);
        loadCeremony()
          .then(({ askForPasskey }) => askForPasskey(options))
          .then(send, () => send(null));
      }}
    >
      <RedirectField from={isSecondFactor ? 'redirectUrl' : 'destination'} />
      <input type="hidden" name="credential" ref={field} />
      <button
        className={isShown ? 'button quiet' : 'button quiet unscripted'}
        type="submit"
        aria-label={message('login-passkey')}
      >
        {message(isSecondFactor ? 'login-passkey' : 'login-passkey-short')}
      </button>
      {isNone && <p role="alert">{message('login-passkey-none')}</p>}
    </PortalForm>
  );
}
