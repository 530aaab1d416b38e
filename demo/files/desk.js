// The start page, the mails and the authenticator come alive; without this script they work by links and reloads.

document.documentElement.classList.add('script');

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return false;
  }
  return true;
}

const told = document.querySelector('[role=status]');
for (const button of document.querySelectorAll('button[data-copy]'))
  button.addEventListener('click', async () => {
    if (!(await copy(button.getAttribute('data-copy') ?? ''))) return;
    button.classList.add('copied');
    if (told) told.textContent = 'Copied';
    setTimeout(() => {
      button.classList.remove('copied');
      if (told) told.textContent = '';
    }, 2000);
  });

// Opening a case copies its password: the next thing asked for.
for (const link of document.querySelectorAll('a[data-password]'))
  link.addEventListener('click', () => void copy(link.getAttribute('data-password') ?? ''));

// Mails arrive by themselves, on every page of the desk as a number beside the link.
const count = document.querySelector('[data-mail-count]');
const list = document.querySelector('[data-mails]');
const arrivals = new EventSource('/inbox/events');
arrivals.addEventListener('mail', ({ data }) => {
  const mail = JSON.parse(data);
  if (count) count.textContent = String(mail.count);
  if (!list || document.getElementById(mail.id)) return;
  document.querySelector('[data-no-mails]')?.remove();
  for (const older of list.children) older.removeAttribute('open');
  list.insertAdjacentHTML('afterbegin', mail.row);
});

// Codes follow the clock. A person whose app is new is not on the page yet: then it is loaded again.
const codes = document.querySelector('[data-codes]');
if (codes) setInterval(showCodes, 1000);

async function showCodes() {
  const answer = await fetch('/authenticator/codes').catch(() => null);
  if (!answer?.ok) return;
  /** @type {{ id: string, code: string, left: number, isUsed: boolean }[]} */
  const shown = await answer.json();
  const rows = [...document.querySelectorAll('[data-account]')];
  if (rows.map((row) => row.getAttribute('data-account')).join() !== shown.map(({ id }) => id).join()) {
    location.reload();
    return;
  }
  shown.forEach(({ code, left, isUsed }, index) => {
    const row = /** @type {HTMLElement} */ (rows[index]);
    const digits = row.querySelector('.code');
    if (digits && digits.textContent !== code) {
      digits.textContent = code;
      row.querySelector('button')?.setAttribute('data-copy', code.replace(' ', ''));
    }
    row.classList.toggle('used', isUsed);
    const meter = row.querySelector('meter');
    if (meter) meter.value = left;
    const words = row.querySelector('.left');
    if (words) words.textContent = isUsed ? `used · next in ${left} s` : `${left} s left`;
  });
}
