/** The interface languages, specification §1, each by its name for itself. */
export const languageNames = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  pl: 'Polski',
  nl: 'Nederlands',
  it: 'Italiano',
} as const;
export type Language = keyof typeof languageNames;
export const languages = Object.keys(languageNames) as Language[];

/** The language of a locale tag by its primary subtag (`de-AT` → `de`), or null if we don't support it. */
export function languageOfTag(tag: string): Language | null {
  const part = tag.trim().split(/[-_]/, 1)[0]?.toLowerCase();
  return languages.find((language) => language === part) ?? null;
}

/** The first supported language among the locale tags, best first; else the fallback. */
export function bestLanguage(wantedTags: readonly string[]): Language {
  return wantedTags.map(languageOfTag).find((language) => language !== null) ?? 'en';
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
