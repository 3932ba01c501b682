// The words of the view "Read", in English.
export const readEnglish = {
  "tab.read": "Read", "heading.read": "Read, and watch the Transformer do it",
  "read.text": "Text", "read.second": "Second text", "read.second.compare": "A second text to compare …", "read.second.classify": "A second text, for a model of pairs; may stay empty …",
  "read.task": "What to find", "read.task.classify": "A label", "read.task.tag": "A tag for each word", "read.task.fill": "What stands at a mask", "read.task.compare": "How alike two texts are",
  "read.answer": "What the encoder finds", "read.mask": "Put in a mask", "read.noMask": "Put {mask} where a word shall be guessed.",
  "read.place": "Mask {place}", "read.take": "Put this word in", "read.takeLabel": "{piece}, {share}: put this word in",
  "read.tagNote": "Below each word stand its tag and the probability that the model gives it. Words without a colour have the tag O.", "read.noTags": "No word has a tag other than O.",
  "read.fillNote": "The model's probabilities over its whole vocabulary. A click puts a word into the text.",
  "read.moreLabels": "and {count} labels that are less likely", "read.cosine": "cosine of the two vectors",
  "read.cosineNote": "Each text becomes a vector of {width} numbers. 1: they have the same direction; 0: they have none in common. The number says little for a model that was not trained to compare texts.",
  "read.startTitle": "This model reads texts: {model}", "read.startAccuracy": "accuracy {accuracy} % on its validation text", "read.startLabels": "It knows {count} labels: {labels}",
  "card.encoder": "An encoder: it reads texts.", "card.accuracy": "accuracy",
  "error.noMaskLeft": "There is no {mask} in the part of the text that the model can take.", "error.tooManyMasks": "The text has {size} masks; the server takes {limit} at a time.",
  "error.lateReading": "Reading took longer than this server allows. Give a shorter text.",
};
