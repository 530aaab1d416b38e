/** The text as a name that every file system takes. */
export function fileName(text: string): string {
  return text
    .replace(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ')
    .replace(/^[. ]+/, '')
    .slice(-longest);
}

/** The end counts most, for it says of what kind the file is. */
const longest = 120;
