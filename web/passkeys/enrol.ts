import { makePasskey, tellManagers } from './make-passkey.ts';

/**
 * On the account page: shows the button that makes a passkey, where one can be made, and tells the browser's own list of
 * passkeys which ones are left. The page says in words what is missing without it. Elsewhere it finds nothing to do.
 */
export function startEnrolment(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-options]');
  const field = form?.querySelector<HTMLInputElement>('input[name="credential"]');
  const known = document.querySelector<HTMLElement>('[data-known]')?.dataset.known;

  if (form && field && typeof PublicKeyCredential !== 'undefined') {
    const { options = '' } = form.dataset;
    const status = form.querySelector('[aria-live]');
    const button = form.querySelector('button');
    for (const part of document.querySelectorAll<HTMLElement>('[data-without]')) part.hidden = true;
    form.hidden = false;
    button?.focus();
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (button?.disabled) return;
      if (button) button.disabled = true;
      if (status) status.textContent = '';
      makePasskey(options).then((answer) => {
        if (typeof answer !== 'string') {
          if (button) button.disabled = false;
          button?.focus();
          if (status) status.textContent = form.dataset[answer.problem] ?? '';
          return;
        }
        field.value = answer;
        form.submit();
      });
    });
  }

  if (known) tellManagers(JSON.parse(known));
}
