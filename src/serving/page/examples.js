// The example of the page, after Uszkoreit 2017 ("Transformer: A Novel Neural Network Architecture for Language Understanding"), by source language.

/// Two sentences of which one word decides what the pronoun stands for.
export const kPairs = {
  en: ["The animal didn't cross the street because it was too tired.", "The animal didn't cross the street because it was too wide."],
  de: ["Das Tier überquerte die Straße nicht, weil es zu müde war.", "Das Tier überquerte die Straße nicht, weil sie zu breit war."],
  fr: ["L'animal n'a pas traversé la rue parce qu'il était trop fatigué.", "L'animal n'a pas traversé la rue parce qu'elle était trop large."],
  es: ["El animal no cruzó la calle porque estaba demasiado cansado.", "El animal no cruzó la calle porque era demasiado ancha."],
  zh: ["这只动物没有过马路，因为它太累了。", "这只动物没有过马路，因为它太宽了。"],
};

/// Sentences to look into; the first is looked into at once.
export const kExamples = {
  en: [...kPairs.en, "Since it was so bulky, the clock broke the jug."],
  de: [kPairs.de[0], "Zwei junge Hunde spielen im Schnee."],
  fr: [kPairs.fr[0], "Deux jeunes chiens jouent dans la neige."],
  es: [kPairs.es[0], "Dos perros jóvenes juegan en la nieve."],
  zh: [kPairs.zh[0], "两只小狗在雪地里玩耍。"],
};
