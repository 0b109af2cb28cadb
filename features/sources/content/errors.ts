/** A text or value does not fit its content type. The message is shown to users and holds no secret. */
export class ContentError extends Error {}

/** It has more values than one message or answer may have: each takes many times the memory of its text. */
export class ContentTooLarge extends ContentError {
  constructor(most: number) {
    super(`more than ${most} values`);
  }
}
