import type { ServerPage } from '#contract/page.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { PortalLink } from '../parts/portal-link.tsx';
import { Seal } from '../parts/seal.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';

type Props = Extract<ServerPage, { name: 'otherAccount' }>;

/** An identity provider tells another person than is signed in here: nothing happens before the press. */
export function OtherAccount({ request, provider, other, account, goesOnTo }: Props) {
  const message = useMessage();
  return (
    <>
      <Seal icon="key" />
      <Heading />
      <p className="lede">{message('other-account-text', { provider, account: other })}</p>
      {account !== null && (
        <div className="stack">
          <PortalLink className="button" href={goesOnTo}>
            {message('provider-began-go-on', { account })}
          </PortalLink>
        </div>
      )}
      <PortalForm call="goOnAsOther">
        <input type="hidden" name="request" value={request} />
        <SubmitButton isQuiet={account !== null}>{message('provider-began-go-on', { account: other })}</SubmitButton>
      </PortalForm>
      {account === null && (
        <PortalForm call="goOnAsOther">
          <input type="hidden" name="request" value={request} />
          <input type="hidden" name="answer" value="no" />
          <SubmitButton isQuiet>{message('return-to-login')}</SubmitButton>
        </PortalForm>
      )}
    </>
  );
}
