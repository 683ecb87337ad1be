/* What is UTF-8, and what is not. */
#pragma once

/* Bytes of the character that begins at `at`, 0 where none does. The text ends in NUL. */
static inline int tandem_utf8_length(const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  const unsigned char first = *at;
  if (first < 0x80) return 1;
  const int length = first >= 0xc2 && first <= 0xdf   ? 2
                     : first >= 0xe0 && first <= 0xef ? 3
                     : first >= 0xf0 && first <= 0xf4 ? 4
                                                      : 0;
  for (int i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  /* Longer than need be, half of a pair, past the last character. */
  if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) || (first == 0xf0 && at[1] < 0x90) ||
      (first == 0xf4 && at[1] > 0x8f)) {
    return 0;
  }
  return length;
}
