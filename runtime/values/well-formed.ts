// Is a text one that UTF-8 can carry? BSON and the wire would put U+FFFD in the place of a lone surrogate.

const LONE_SURROGATE = /\p{Surrogate}/u;

/** No half of a surrogate pair stands alone in the text (`String.isWellFormed` of ES2024). */
export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);
