// A text that was put together from parts is a tree of them in the engine, several times as large, until it is first read.

/** Kept where the engine cannot see that nobody asks for it. */
let lastRead = 0;

/** The same text in one piece. To be made of one that is kept for a while: the parts are garbage at once, and the collector copies less. */
export function wholeText(text: string): string {
  lastRead = text.charCodeAt(0) + (lastRead & 1);
  return text;
}
