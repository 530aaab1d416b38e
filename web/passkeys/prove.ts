/**
 * On the account page: shows the button that proves by a passkey, where the browser can use one; the form beside it works without.
 * `ask` gets the authenticator's answer, or null.
 */
export function startProof(ask: (optionsUrl: string) => Promise<string | null>): void {
  const form = document.querySelector<HTMLFormElement>('.account form[data-prove]');
  const field = form?.querySelector<HTMLInputElement>('input[name="credential"]');
  if (!form || !field || typeof PublicKeyCredential === 'undefined') return;
  const { prove = '', none = '' } = form.dataset;
  const status = form.querySelector('[aria-live]');
  const button = form.querySelector('button');
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (button?.disabled) return;
    if (button) button.disabled = true;
    if (status) status.textContent = '';
    ask(prove).then((answer) => {
      if (button) button.disabled = false;
      if (answer === null) {
        button?.focus();
        if (status) status.textContent = none;
        return;
      }
      field.value = answer;
      form.submit();
    });
  });
}
