import { expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import italian from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };

const textsOf: Record<Language, Record<string, string>> = { en, de, es, pl, nl, it: italian };

type Term = [idea: string, ...terms: string[]];

/** One idea has one term in each language, everywhere: pages, emails, subjects. */
const columns: Language[] = ['en', 'de', 'es', 'it', 'nl', 'pl'];
const terms: Term[] = [
  ['enter with name and password', 'sign in', 'anmelden', 'iniciar sesión', 'accedi', 'inloggen', 'zaloguj się'],
  ['one such entry', 'sign-in', 'Anmeldung', 'inicio de sesión', 'accesso', 'aanmelding', 'logowanie'],
  [
    'its page',
    'sign-in page',
    'Anmeldeseite',
    'página de inicio de sesión',
    'pagina di accesso',
    'inlogpagina',
    'strona logowania',
  ],
  ['leave', 'sign out', 'abmelden', 'cerrar sesión', 'esci', 'uitloggen', 'wyloguj się'],
  [
    "by a company's own provider",
    'single sign-on',
    'Single Sign-on',
    'inicio de sesión único',
    'single sign-on',
    'single sign-on',
    'logowanie jednokrotne',
  ],
  [
    'the second step',
    'two-step verification',
    'Zwei-Faktor-Authentifizierung',
    'verificación en dos pasos',
    'verifica in due passaggi',
    'tweestapsverificatie',
    'weryfikacja dwuetapowa',
  ],
  [
    'what shows its codes',
    'authenticator app',
    'Authentifizierungs-App',
    'aplicación de autenticación',
    'app di autenticazione',
    'authenticatie-app',
    'aplikacja uwierzytelniająca',
  ],
  [
    'six digits',
    'six-digit code',
    'sechsstelliger Code',
    'código de seis cifras',
    'codice di sei cifre',
    'zescijferige code',
    'sześciocyfrowy kod',
  ],
  [
    'code for when the phone is not there',
    'recovery code',
    'Ersatzcode',
    'código de recuperación',
    'codice di recupero',
    'herstelcode',
    'kod zapasowy',
  ],
  ['make it work', 'set up', 'einrichten', 'configurar', 'configura', 'instellen', 'skonfiguruj'],
  ['make it stop', 'turned off', 'deaktiviert', 'desactivada', 'disattivata', 'uitgeschakeld', 'wyłączono'],
  ['name to sign in with', 'username', 'Benutzername', 'usuario', 'nome utente', 'gebruikersnaam', 'nazwa użytkownika'],
  [
    'address of the company',
    'work email',
    'geschäftliche E-Mail-Adresse',
    'correo de trabajo',
    'e-mail di lavoro',
    'zakelijke e-mailadres',
    'służbowy adres e-mail',
  ],
  ['password', 'password', 'Passwort', 'contraseña', 'password', 'wachtwoord', 'hasło'],
  ['a new one for a lost one', 'reset', 'zurücksetzen', 'restablecer', 'reimposta', 'opnieuw instellen', 'zresetuj'],
  [
    'how somebody gets a first password',
    'invitation',
    'Einladung',
    'invitación',
    'invito',
    'uitnodiging',
    'zaproszenie',
  ],
  ['account', 'account', 'Konto', 'cuenta', 'account', 'account', 'konto'],
  ["the person's employer", 'company', 'Unternehmen', 'empresa', 'azienda', 'bedrijf', 'firma'],
  [
    'who looks after accounts there',
    'administrator',
    'IT-Abteilung',
    'administrador',
    'amministratore',
    'beheerder',
    'administrator',
  ],
  ['who helps', 'support', 'Support', 'soporte', 'assistenza', 'support', 'pomocą techniczną'],
  ['put into a field', 'enter', 'eingeben', 'introduzca', 'inserisci', 'voer', 'wpisz'],
  ['once more', 'again', 'erneut', 'de nuevo', 'di nuovo', 'opnieuw', 'ponownie'],
  ['one of several guesses', 'attempts', 'Versuche', 'intentos', 'tentativi', 'pogingen', 'prób'],
  ['wrong letter', 'typo', 'Tippfehler', 'mal escrita', 'errore di battitura', 'typfout', 'literówkę'],
  ['number on a failure page', 'reference', 'Referenz', 'referencia', 'riferimento', 'referentie', 'kod referencyjny'],
  ['who runs the site', 'legal notice', 'Impressum', 'aviso legal', 'note legali', 'colofon', 'nota prawna'],
];

/** What the texts of a language never say, and what they say instead. */
const avoided: [language: Language, never: string, instead: string][] = [
  ['en', 'two-step sign-in', 'two-step verification'],
  ['en', 'e-mail', 'email'],
  ['en', 'tries', 'attempts'],
  ['en', 'imprint', 'legal notice'],
  ['en', 'log in', 'sign in'],
  ['de', 'Zwei-Schritt-Anmeldung', 'Zwei-Faktor-Authentifizierung'],
  ['de', 'Administration', 'IT-Abteilung'],
  ['de', 'Administrator', 'IT-Abteilung'],
  ['de', 'neu anmelden', 'erneut anmelden'],
  ['de', 'bitte', 'the imperative alone'],
  ['es', 'asistencia', 'soporte'],
  ['es', 'acceso en dos pasos', 'verificación en dos pasos'],
  ['es', 'errata', 'mal escrita'],
  ['it', 'accesso in due passaggi', 'verifica in due passaggi'],
  ['it', 'refuso', 'errore di battitura'],
  ['it', 'sei uscito', 'la sessione è chiusa'],
  ['nl', 'ondersteuning', 'support'],
  ['nl', 'inloggen in twee stappen', 'tweestapsverificatie'],
  ['nl', 'goedgekeurd', 'toegestaan'],
  ['nl', 'typ', 'voer … in'],
  ['nl', 'vul', 'voer … in'],
  ['pl', 'logowanie dwuetapowe', 'weryfikacja dwuetapowa'],
  ['pl', 'logowania dwuetapowego', 'weryfikacji dwuetapowej'],
  ['pl', 'z pomocą.', 'z pomocą techniczną.'],
  ['pl', 'zalogowany', 'sesja jest aktywna'],
];

/** Keys of the texts that have a term as words of their own, whatever the case of its letters. */
function keysWith(language: Language, term: string): string[] {
  const words = new RegExp(`(?<!\\p{L})${term.replaceAll('.', '\\.')}(?!\\p{L})`, 'iu');
  return Object.keys(textsOf[language]).filter((key) => words.test(textsOf[language][key] ?? ''));
}

it.each(languages)('%s has one term per idea and says it, and never says a word to avoid', (language) => {
  const column = columns.indexOf(language);
  const own = terms.map(([, ...row]) => row[column] ?? '');
  for (const term of own) expect(keysWith(language, term), term).not.toEqual([]);
  expect(own).toEqual([...new Set(own)]);
  for (const [whose, never] of avoided) if (whose === language) expect(keysWith(language, never), never).toEqual([]);
});

it('every text that speaks of two-step verification does so in every language', () => {
  const stems: Record<Language, string> = {
    en: 'two-step verification',
    de: 'Zwei-Faktor-Authentifizierung',
    es: 'verificación en dos pasos',
    it: 'verifica in due passaggi',
    nl: 'tweestapsverificatie',
    pl: 'weryfikacj\\p{L}+ dwuetapow\\p{L}+',
  };
  const keys = keysWith('en', stems.en).filter((key) => key !== 'registration-email-text');
  expect(keys.length).toBeGreaterThan(10);
  for (const language of languages) expect(keysWith(language, stems[language])).toEqual(expect.arrayContaining(keys));
});
