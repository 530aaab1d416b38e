/** The text as a file name valid on every file system. */
export function fileName(text: string): string {
  return text
    .replace(/[\\/:*?"<>|\p{Cc}\s]+/gu, ' ')
    .replace(/^[. ]+/, '')
    .slice(-longest);
}

/** Keeps the end, which holds the file type. */
const longest = 120;
