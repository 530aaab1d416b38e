import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'providerBegan' }>;

/** Unsolicited sign-in from a provider: nothing happens until a button is pressed; signed-in users may continue. */
export function ProviderBegan({ connection, provider, account, goesOnTo }: Props) {
  const message = useMessage();
  const text = account === null ? 'provider-began-text' : 'provider-began-signed-in-text';
  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">{message(text, { provider, account: account ?? '' })}</p>
      {account !== null && (
        <div className="stack">
          <PortalLink className="button" href={goesOnTo}>
            {message('provider-began-go-on', { account })}
          </PortalLink>
        </div>
      )}
      <PortalForm call="continueWithProvider">
        <input type="hidden" name="connection" value={connection} />
        <SubmitButton isQuiet={account !== null}>{message('provider-began-button', { provider })}</SubmitButton>
      </PortalForm>
    </>
  );
}
