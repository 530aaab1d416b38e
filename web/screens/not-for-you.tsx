import type { ServerPage } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { Heading } from '../parts/heading.tsx';
import { PortalForm } from '../parts/portal-form.tsx';
import { Reference } from '../parts/reference.tsx';
import { Seal } from '../parts/seal.tsx';
import { SubmitButton } from '../parts/submit-button.tsx';
import { SupportLink } from '../parts/support-link.tsx';

type Props = Extract<ServerPage, { name: 'notForYou' }>;

/** A page of the hub that is only for other customers (docs/hub.md). */
export function NotForYou({ username, comesBackTo }: Props) {
  const message = useMessage();
  return (
    <>
      <Seal icon="bang" kind="bad" />
      <Heading />
      <p className="lede">{message('not-for-you-text', { account: username })}</p>
      <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
        <SubmitButton>{message('not-for-you-button')}</SubmitButton>
        <p className="links">
          <SupportLink />
        </p>
        <Reference />
      </PortalForm>
    </>
  );
}
