import { expect, it } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import { allTexts } from './all-texts.ts';

/** One idea has one term in each language, everywhere: pages, emails, subjects. */
const columns: Language[] = ['en', 'de', 'es', 'it', 'nl', 'pl'];
const terms = `
sign in | anmelden | iniciar sesión | accedi | inloggen | zaloguj się
sign-in | Anmeldung | inicio de sesión | accesso | aanmelding | logowanie
sign-in page | Anmeldeseite | página de inicio de sesión | pagina di accesso | inlogpagina | strona logowania
sign out | abmelden | cerrar sesión | esci | uitloggen | wyloguj się
single sign-on | Single Sign-on | inicio de sesión único | single sign-on | single sign-on | logowanie jednokrotne
two-step verification | Zwei-Faktor-Authentifizierung | verificación en dos pasos | verifica in due passaggi | tweestapsverificatie | weryfikacja dwuetapowa
authenticator app | Authentifizierungs-App | aplicación de autenticación | app di autenticazione | authenticatie-app | aplikacja uwierzytelniająca
six-digit code | sechsstelliger Code | código de seis cifras | codice di sei cifre | zescijferige code | sześciocyfrowy kod
recovery code | Ersatzcode | código de recuperación | codice di recupero | herstelcode | kod zapasowy
set up | einrichten | configurar | configura | instellen | skonfiguruj
turned off | deaktiviert | desactivada | disattivata | uitgeschakeld | wyłączono
username | Benutzername | usuario | nome utente | gebruikersnaam | nazwa użytkownika
work email | geschäftliche E-Mail-Adresse | correo de trabajo | e-mail di lavoro | zakelijke e-mailadres | służbowy adres e-mail
password | Passwort | contraseña | password | wachtwoord | hasło
reset | zurücksetzen | restablecer | reimposta | opnieuw instellen | zresetuj
invitation | Einladung | invitación | invito | uitnodiging | zaproszenie
account | Konto | cuenta | account | account | konto
company | Unternehmen | empresa | azienda | bedrijf | firma
administrator | IT-Abteilung | administrador | amministratore | beheerder | administrator
support | Support | soporte | assistenza | support | pomocą techniczną
enter | eingeben | introduzca | inserisca | voer | wpisać
again | erneut | de nuevo | di nuovo | opnieuw | ponownie
attempts | Versuche | intentos | tentativi | pogingen | prób
typo | Tippfehler | mal escrita | errore di battitura | typfout | literówkę
reference | Referenz | referencia | riferimento | referentie | kod referencyjny
desk | Servicedesk | mesa de ayuda | sportello | servicedesk | panel obsługi
customer | Kunde | cliente | cliente | klant | klient
connection | Verbindung | conexión | connessione | verbinding | połączenie
identity provider | Identitätsanbieter | proveedor de identidad | provider di identità | identiteitsprovider | dostawca tożsamości
second factor | zweiter Faktor | segundo factor | secondo fattore | tweede factor | drugi składnik
wait | Wartezeit | espera | attesa | wachttijd | czas oczekiwania
reset link | Link zum Zurücksetzen | enlace de restablecimiento | link di reimpostazione | resetlink | link do zresetowania hasła
legal notice | Impressum | aviso legal | note legali | colofon | nota prawna`;

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
  ['it', 'tuo', 'suo'],
  ['it', 'tua', 'sua'],
  ['it', 'puoi', 'può'],
  ['nl', 'ondersteuning', 'support'],
  ['nl', 'inloggen in twee stappen', 'tweestapsverificatie'],
  ['nl', 'goedgekeurd', 'toegestaan'],
  ['nl', 'typ', 'voer … in'],
  ['nl', 'vul', 'voer … in'],
  ['pl', 'logowanie dwuetapowe', 'weryfikacja dwuetapowa'],
  ['pl', 'Twoje', 'Państwa'],
  ['pl', 'Twojego', 'Państwa'],
  ['pl', 'możesz', 'można'],
  ['pl', 'logowania dwuetapowego', 'weryfikacji dwuetapowej'],
  ['pl', 'z pomocą.', 'z pomocą techniczną.'],
  ['pl', 'zalogowany', 'sesja jest aktywna'],
];

/** Keys of the texts that have a term as words of their own, whatever the case of its letters. */
function keysWith(language: Language, term: string): string[] {
  const words = new RegExp(`(?<!\\p{L})${term.replaceAll('.', '\\.')}(?!\\p{L})`, 'iu');
  return Object.entries(allTexts[language]).flatMap(([key, text]) => (words.test(text) ? [key] : []));
}

it.each(languages)('%s has one term per idea and says it, and never says a word to avoid', (language) => {
  const rows = terms.trim().split('\n');
  const own = rows.map((row) => row.split(' | ')[columns.indexOf(language)] ?? '');
  for (const term of own) expect(keysWith(language, term), term).not.toEqual([]);
  expect(own).toEqual([...new Set(own)]);
  for (const [whose, never] of avoided) if (whose === language) expect(keysWith(language, never), never).toEqual([]);
});
