// Long texts, cut into parts that the server takes.

const kSentenceEnd = /[.!?…]["'”’»›)\]]*\s|[。！？؟۔।]["”’»」』）】]*/g;

// The end of the part of `text` that begins at `begin`: after a line, a sentence, a blank, or where the room ends.
function endOfPart(text, begin, limit) {
  if (text.length - begin <= limit) return text.length;
  const room = text.slice(begin, begin + limit);
  const line = room.lastIndexOf("\n") + 1;
  if (2 * line >= limit) return begin + line;
  const sentence = Math.max(0, ...Array.from(room.matchAll(kSentenceEnd), (found) => found.index + found[0].length));
  if (sentence || line) return begin + Math.max(sentence, line);
  const blank = room.search(/\s\S*$/);
  if (blank > 0) return begin + blank + 1;
  const splitsPair = /[\uD800-\uDBFF]/.test(text[begin + limit - 1]) && limit > 1;
  return begin + limit - (splitsPair ? 1 : 0);
}

/// Parts of at most `limit` UTF-16 units whose concatenation is `text`.
export function partsOf(text, limit) {
  const parts = [];
  for (let begin = 0, end; begin < text.length; begin = end) {
    end = endOfPart(text, begin, limit);
    parts.push(text.slice(begin, end));
  }
  return parts;
}
