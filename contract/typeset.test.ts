import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { typeset, typesetTexts } from './typeset.ts';

/** Makes what has no width of its own visible. */
const shown = (text: string) => text.replaceAll('\u00a0', '_').replaceAll('\u2011', '=').replaceAll('\u00ad', '|');

describe('typeset', () => {
  it('keeps together what belongs together', () =>
    eachRow(
      [
        ['en', 'for 30 days', 'for 30_days'],
        ['en', '{shortest} to {longest} characters', '{shortest}_to {longest}_characters'],
        ['de', 'etwa {minutes} Min. nach', 'etwa {minutes}_Min. nach'],
        ['en', '“123”, 2026', '“123”, 2026'],
        ['en', 'Sign in to {hub} now', 'Sign in to {hub} now'],
        ['en', 'Two-step sign-in, “e-mail”', 'Two-step sign-in, “e=mail”'],
        ['en', 'Open the sign-in page.', 'Open the sign=in page.'],
        ['de', 'Die Zwei-Faktor-Authentifizierung fehlt.', 'Die Zwei=Faktor-Authenti|fizierung fehlt.'],
        ['de', 'Fragen Sie Ihre IT-Abteilung.', 'Fragen Sie Ihre IT=Abteilung.'],
        ['de', 'Ihre E-Mail-Adresse', 'Ihre E=Mail=Adresse'],
        ['de', 'Zwei-Faktor-Authentifizierung', 'Zwei-Faktor-Authenti|fizierung'],
        ['de', 'Authentifizierungs-App', 'Authenti|fizierungs-App'],
        ['nl', 'Tweestapsverificatie instellen', 'Tweestaps|verificatie instellen'],
        ['de', 'Groß- und Kleinbuchstaben', 'Groß- und Kleinbuchstaben'],
        ['en', 'such as 7K2M-Q4XD-9FHB.', 'such as 7K2M-Q4XD-9FHB.'],
        ['en', 'Oberes-Emmental-Werk', 'Oberes-Emmental-Werk'],
        ['pl', 'Login i hasło', 'Login i_hasło'],
        ['pl', 'W sieci i w biurze (z kodem)', 'W_sieci i_w_biurze (z_kodem)'],
        ['pl', 'do serwisu na tym koncie', 'do serwisu na tym koncie'],
        ['es', 'usuario o correo', 'usuario o correo'],
        ['de', 'Zum Single Sign-on', 'Zum Single Sign-on'],
      ] as const,
      ([language, plain, wanted]) => expect(shown(typeset(language, plain))).toBe(wanted),
    ));

  it('changes nothing that is typeset already', () => {
    for (const [language, text] of [
      ['pl', 'Login i hasło do 3 kont e-mail'],
      ['de', 'Authentifizierungs-App'],
      ['de', 'Die Zwei-Faktor-Authentifizierung fehlt.'],
    ] as const) {
      const once = typeset(language, text);
      expect(once).not.toBe(text);
      expect(typeset(language, once)).toBe(once);
    }
  });

  it('keeps short words with hyphens together in titles', () => {
    const title = 'Two-step sign-in';
    expect(shown(typeset('en', title, true))).toBe('Two=step sign=in');
    expect(shown(typesetTexts('en', { 'a-title': title, a: title })['a-title'])).toBe('Two=step sign=in');
  });
});
