/** A text without the same characters at its end. Not by `/0+$/`, which is tried from each of many zeros that do not stand at the end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
