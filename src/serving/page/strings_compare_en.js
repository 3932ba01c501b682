export const compareEnglish = {
  "two.title": "Two sentences compared", "two.open": "Compare two sentences", "two.close": "Back to one sentence", "two.first": "First sentence", "two.second": "Second sentence", "two.go": "Compare",
  "two.same": "Both translations are the same.", "two.part": "The translations part at “{left}” and “{right}”.",
  "two.cross": "When that word is made, {kind}, layer {layer}, head {head}, looks at “{gain}” with {gainLeft} in the first sentence and {gainRight} in the second, and at “{loss}” with {lossLeft} and {lossRight}.",
  "two.crossWeak": "No head of the cross-attention moves {limit} or more between two words there.",
  "two.encoder": "In the encoder, layer {layer}, head {head}, the row “{word}” moves most: “{gain}” {gainLeft} and {gainRight}, “{loss}” {lossLeft} and {lossRight}.",
  "two.ranking": "Heads by how far they move from one word to another", "two.column.head": "head", "two.column.row": "row", "two.column.gain": "more in the first", "two.column.loss": "more in the second", "two.head": "{kind}, layer {layer}, head {head}",
  "two.heads": "The difference of every head", "two.headsNote": "Orange: more weight in the first sentence; blue: more in the second. Words that differ share one row or column.", "two.difference": "First minus second",
  "two.rows": "Rows look at columns. In the decoder a row is the word that was read last. Pieces of a word are joined: their columns are added, their rows averaged.",
};
