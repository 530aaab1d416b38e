/** The interface languages, specification §1. */
export const languages = ['en', 'de', 'es', 'pl', 'nl', 'it'] as const;
export type Language = (typeof languages)[number];

const fallbackLanguage: Language = 'en';

/** Each language's name for itself, for the language menu. */
export const languageNames: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  pl: 'Polski',
  nl: 'Nederlands',
  it: 'Italiano',
};

/** The language of a locale tag by its primary subtag (`de-AT` → `de`), or null if we don't support it. */
export function languageOfTag(tag: string): Language | null {
  const part = tag.trim().split(/[-_]/, 1)[0]?.toLowerCase();
  return languages.find((language) => language === part) ?? null;
}

/** The first supported language among the locale tags, best first; else the fallback. */
export function bestLanguage(wantedTags: readonly string[]): Language {
  return wantedTags.map(languageOfTag).find((language) => language !== null) ?? fallbackLanguage;
}

/** The locale tags of an Accept-Language header, best first, without those of `q=0` (RFC 9110 §12.5.4). */
export function tagsOfAcceptLanguage(header: string): string[] {
  return header
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}
