import { makePasskey } from './make-passkey.ts';

/** On the account page: shows the button that makes a passkey, where one can be made. Elsewhere it finds nothing to do. */
export function startEnrolment(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-old]');
  if (form) offerToEnrol(form);
}

/**
 * Shows a form that makes a passkey, in place of what its page says without (`data-without`), if the browser can make one; and
 * makes it when the form is sent. What the form says of a failure is in its data; it is sent without an answer where that has no
 * words, for the server's.
 */
function offerToEnrol(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLInputElement>('input[name="credential"]');
  if (!field || typeof PublicKeyCredential === 'undefined') return;
  const { options = '' } = form.dataset;
  const status = form.querySelector('[aria-live]');
  const button = form.querySelector('button');
  const session = form.querySelector<HTMLInputElement>('[name=session]')?.value ?? '';
  for (const part of document.querySelectorAll<HTMLElement>('[data-without]')) part.hidden = true;
  form.hidden = false;
  function pause(words: string): void {
    if (button) button.disabled = false;
    button?.focus();
    if (status) status.textContent = words;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button?.disabled) return;
    if (button) button.disabled = true;
    if (status) status.textContent = '';
    const answer = await makePasskey(options, new URLSearchParams({ session }));
    const problem = typeof answer === 'string' ? undefined : form.dataset[answer.problem];
    if (problem !== undefined) return pause(problem);
    field.value = typeof answer === 'string' ? answer : '';
    form.submit();
  });
}
