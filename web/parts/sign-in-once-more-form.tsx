import { useEffect } from 'react';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';
import { PortalForm } from './portal-form.tsx';
import { SubmitButton } from './submit-button.tsx';

/** Signs out a user who signed in too long ago to set up an app, and returns here once they are signed in again. */
export function SignInOnceMoreForm({ comesBackTo }: { comesBackTo: string }) {
  const message = useMessage();
  const { save } = useVisit();

  // biome-ignore lint/correctness/useExhaustiveDependencies: once; what the tab remembers would lead past this page
  useEffect(() => save({ loginHashFragment: null, redirectOldWebbundleUrl: null }), []);

  return (
    <PortalForm call="logoutConfirmed" query={{ [queryNames.destination]: comesBackTo }}>
      <SubmitButton>{message('once-more-button')}</SubmitButton>
    </PortalForm>
  );
}
